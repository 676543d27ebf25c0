/** Problems of pods as text: entries of the block of problems, and lines for a pipe. Pure. */
import type { PodTrouble } from "../core/dev/podTrouble.ts";
import type { EpochMs } from "../core/ids.ts";
import { oneLine } from "../core/telemetry/plainText.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import { formatInstant } from "../core/time/civilTime.ts";

const nameOf = ({ namespace, name }: PodTrouble): string => (namespace === "default" ? name : `${namespace}/${name}`);

/** Returns a trouble as a warning about its pod. */
export const troubleAsProblem = (trouble: PodTrouble): ManifestProblem => ({
  severity: "warning",
  origin: nameOf(trouble),
  line: undefined,
  field: undefined,
  reason: trouble.text,
  pod: undefined,
});

/** Put before the reason of a failed pull while its next try waits. */
const BACK_OFF = /Back-off pulling image "[^"]*": /g;

/** The cause of a trouble: a pull that fails again and again alternates between two texts with one cause. */
const causeOf = ({ text }: PodTrouble): string => text.replaceAll(BACK_OFF, "").replaceAll("ErrImagePull: ", "");

/** The cause last printed for each existing pod, and the lines to print next. */
export interface TroubleLines {
  readonly said: ReadonlyMap<string, string>;
  readonly text: readonly string[];
}

/** The state before any problem was printed. */
export const NO_TROUBLE_LINES: TroubleLines = { said: new Map(), text: [] };

/**
 * Returns the lines to print next. A pod whose cause of trouble stays the same is not printed again: a
 * crash loop is one line, and so is an image that cannot be pulled. `podNames` are the pods there are.
 */
export function changedTroubles(
  { said }: TroubleLines,
  troubles: readonly PodTrouble[],
  podNames: ReadonlySet<string>,
  now: EpochMs,
): TroubleLines {
  const at = formatInstant(now);
  const current = new Map([...said].filter(([name]) => podNames.has(name)));
  const text: string[] = [];
  for (const trouble of troubles) {
    const name = nameOf(trouble);
    const cause = causeOf(trouble);
    if (current.get(name) === cause) continue;
    current.set(name, cause);
    text.push(`${at}  warning   ${oneLine(`${name}: ${trouble.text}`)}`);
  }
  return { said: current, text };
}
