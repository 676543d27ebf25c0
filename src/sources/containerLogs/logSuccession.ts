/** Finds the successor of a log file that was read to its end. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { dockerAge } from "../../core/logs/dockerLog.ts";
import { rotationOf } from "../../core/logs/logFileNames.ts";
import { identityOf, listRotated, type LogFile, type LogPlace, nameOf } from "../../fileSystem/logFile.ts";

export type Succession =
  /** The file is being written, or was moved and the runtime has not opened the next one yet. */
  | { readonly kind: "none" }
  /** The file was truncated: its content restarts at 0. */
  | { readonly kind: "cut" }
  /**
   * The file that follows the read one. `isAfterGap`: the read file was removed meanwhile, so files after it may have
   * been removed unread.
   */
  | { readonly kind: "next"; readonly name: string; readonly isAfterGap: boolean };

/** Number above those of all rotated files of Docker. */
const MAX_AGE = 10_000;
const AGE_DIGITS = 5;

const NONE: Succession = { kind: "none" };

/**
 * Returns the successor of a file that was read up to `offset`. Files that were removed before they were read are lost.
 */
export async function successionOf(place: LogPlace, file: LogFile, offset: number): Promise<Succession> {
  const { directory, latest } = place;
  const stats = await fs.lstat(join(directory, latest), { bigint: true }).catch(() => undefined);
  if (stats !== undefined && identityOf(stats) === file.identity) return stats.size < offset ? { kind: "cut" } : NONE;
  const own = await nameOf(place, file);
  // A file without a name was removed, not rotated.
  if (own === undefined || own === latest) return toLatest(stats !== undefined, latest, false);
  const { inUse } = await listRotated(place);
  // Docker gives all files other names when it rotates: look again at the next change.
  if (place.isDockers && (await nameOf(place, file)) !== own) return NONE;
  const age = ageIn(place, own);
  // Rotation removes the oldest file first: while the read file exists, so does every later one.
  const isAfterGap = !inUse.some((name) => ageIn(place, name) === age);
  const younger = inUse.find((name) => ageIn(place, name) > age);
  if (younger !== undefined) return { kind: "next", name: younger, isAfterGap };
  return toLatest(stats !== undefined, latest, isAfterGap);
}

/** A text that is greater for a younger file. */
const ageIn = ({ isDockers, latest }: LogPlace, name: string): string =>
  isDockers ? String(MAX_AGE - (dockerAge(name, latest) ?? MAX_AGE)).padStart(AGE_DIGITS, "0") : rotationOf(name);

const toLatest = (isThere: boolean, name: string, isAfterGap: boolean): Succession =>
  isThere ? { kind: "next", name, isAfterGap } : NONE;
