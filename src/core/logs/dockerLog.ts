/**
 * Logs of Docker's driver json-file: where they are, how rotation names them, and their entries as entries of CRI. A
 * line is an object with `log`, which ends with the newline of the program's line, `stream` and `time`.
 */
import { isJsonObject, parseJson } from "../json.ts";
import type { RotatedFiles } from "./logFileNames.ts";

/** The directory and name of a log of Docker. */
export interface DockerLogPlace {
  readonly directory: string;
  readonly latest: string;
}

const PLACE = /^(\/.*\/containers\/([0-9a-f]{64}))\/(\2-json\.log)$/;
/** The number grows with age. */
const ROTATED = /^\.(\d{1,4})(?:\.gz)?$/;

/** Returns the log that a link of a CRI log path points to; undefined for a target of any other shape. */
export function dockerLogPlace(target: string): DockerLogPlace | undefined {
  const [, directory, , latest] = PLACE.exec(target) ?? [];
  return directory === undefined || latest === undefined ? undefined : { directory, latest };
}

/** Returns the number of a rotated file; 0 for the current one, undefined for the file of another log. */
export function dockerAge(name: string, latest: string): number | undefined {
  if (name === latest) return 0;
  const [, number] = (name.startsWith(latest) && ROTATED.exec(name.slice(latest.length))) || [];
  return number === undefined ? undefined : Number(number);
}

/** Sorts the names of a directory as `rotatedFiles` does. Docker leaves nothing unused. */
export function rotatedDockerFiles(names: readonly string[], latest: string): RotatedFiles {
  const aged = names.flatMap((name) => {
    const age = dockerAge(name, latest) ?? 0;
    return age > 0 ? [{ name, age }] : [];
  });
  return { inUse: aged.sort((one, other) => other.age - one.age).map(({ name }) => name), unused: [] };
}

/** Stands for a line that is no entry: readers count it as malformed. */
const MALFORMED = "malformed\n";

/** Returns the entries of CRI for a line without its newline. */
export function criEntries(line: string): string {
  const entry = parseJson(line);
  if (!isJsonObject(entry)) return MALFORMED;
  const { log, stream, time } = entry;
  if (typeof log !== "string" || typeof stream !== "string" || typeof time !== "string") return MALFORMED;
  // Blanks and newlines would give the header other parts.
  if (/\s/.test(`${stream}${time}`)) return MALFORMED;
  const parts = log.split("\n");
  const open = parts.pop() ?? "";
  const whole = parts.map((part) => `${time} ${stream} F ${part}\n`).join("");
  return open === "" && whole !== "" ? whole : `${whole}${time} ${stream} P ${open}\n`;
}
