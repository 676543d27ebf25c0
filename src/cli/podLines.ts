/** Formats changes of pods as lines for a pipe: one per changed pod, one per removed pod. Pure. */
import type { Pod } from "../core/api.ts";
import type { EpochMs } from "../core/ids.ts";
import type { PodRow } from "../core/pod/podRow.ts";
import { formatInstant } from "../core/time/civilTime.ts";
import { devRow, printable, shownName } from "./tableLines.ts";

/** The last printed line of each pod, by UID, and the lines to print next. */
export interface PodLines {
  readonly said: ReadonlyMap<string, { readonly name: string; readonly key: string }>;
  readonly text: readonly string[];
}

/** The state before any line was printed. */
export const NO_LINES: PodLines = { said: new Map(), text: [] };

/** Names are padded to this width, so that most columns line up without knowing what comes. */
const NAME_WIDTH = 24;

/** The longest usual status, CreateContainerConfigError. */
const STATUS_WIDTH = 26;
/** Before anything of a pod runs. */
const STARTING = /^(Pending|ContainerCreating|Init:0\/\d+)$/;

/** A pod that starts, or is removed, gets one line for all of that. */
function keyOf(row: PodRow): string {
  if (row.status === "Terminating") return row.status;
  return row.restartCount === 0 && STARTING.test(row.status) ? "starting" : words(row);
}

/** The part of a row that counts as a change. Ages are left out, since they change with time. */
function words({ ready, status, restartCount, ip }: PodRow): string {
  const restarts = restartCount === 1 ? "1 restart" : `${restartCount} restarts`;
  return `${ready.padEnd(5)}  ${printable(status).padEnd(STATUS_WIDTH)}  ${restarts.padEnd(11)}  ${printable(ip)}`;
}

/** Returns the lines to print next, and the printed state after them. */
export function changedLines({ said }: PodLines, pods: readonly Pod[], now: EpochMs): PodLines {
  const at = formatInstant(now);
  const current = new Map(
    pods.map((pod) => {
      const row = devRow(pod, now);
      return [pod.metadata.uid, { name: shownName(row), key: keyOf(row), words: words(row) }] as const;
    }),
  );
  const line = (name: string, rest: string): string => `${at}  ${name.padEnd(NAME_WIDTH)}  ${rest}`.trimEnd();
  const changed = [...current]
    .filter(([uid, { key }]) => said.get(uid)?.key !== key)
    .map(([, { name, words }]) => line(name, words));
  const gone = [...said].filter(([uid]) => !current.has(uid)).map(([, { name }]) => line(name, "removed"));
  return { said: current, text: [...changed, ...gone] };
}
