/** The marble diagram of `rxlet top`: a lane per pod and one for the node, a letter per value, the present at the right. */
import type { LiveMarble, LivePod } from "../../core/live/liveMessages.ts";
import type { TerminalSize } from "../drawBlock.ts";
import { shown } from "./topText.ts";
import type { TopModel } from "./topModel.ts";

/** Letters of the places of pods; those of the node have a star. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["registryInputs", "u"],
  ["registry", "r"],
  ["timelines", "c"],
  ["inspections", "i"],
  ["runtimeStatuses", "R"],
  ["podStatuses", "s"],
  ["volumes", "v"],
  ["events", "e"],
  ["evictions", "x"],
]);
const OTHER = "*";
/** Several values in one column. */
const MANY = "#";

/** Time of a column. */
const COLUMN_MS = 500;
const MAX_NAME = 32;
const LEGEND =
  "u update  r registry  c step  i inspection  R runtime  s status  v volume  e event  x end  * other  # several";

/** Returns the lanes that had a marble in the time shown, then those without, and a legend. */
export function marbleLines(
  { marbles, pods }: Pick<TopModel, "marbles" | "pods">,
  { columns }: TerminalSize,
  now: number,
): readonly string[] {
  const known = pods?.pods ?? [];
  const names = new Map(known.map((pod) => [pod.uid, nameOf(pod)]));
  const width = Math.min(MAX_NAME, Math.max(4, ...[...names.values()].map(({ length }) => length)));
  const steps = Math.max(10, columns - width - 2);
  const lanes = lanesOf(marbles, steps, now);
  const order = known.map(({ uid }) => uid).toSorted((a, b) => Number(lanes.has(b)) - Number(lanes.has(a)));
  const lane = (uid: string, name: string): string =>
    `${shown(name).slice(0, width).padEnd(width)}  ${(lanes.get(uid) ?? []).map((at) => at ?? "-").join("") || "-".repeat(steps)}`;
  const seconds = Math.round((steps * COLUMN_MS) / 1_000);
  return [
    `the last ${seconds}s, the present at the right`,
    lane("", "node"),
    ...order.map((uid) => lane(uid, names.get(uid) ?? uid)),
    "",
    LEGEND,
  ];
}

const nameOf = ({ namespace, name }: LivePod): string => (namespace === "default" ? name : `${namespace}/${name}`);

function lanesOf(
  marbles: readonly LiveMarble[],
  steps: number,
  now: number,
): ReadonlyMap<string, readonly (string | undefined)[]> {
  const lanes = new Map<string, (string | undefined)[]>();
  for (const { at, place, pod = "" } of marbles) {
    const column = steps - 1 - Math.floor((now - at) / COLUMN_MS);
    if (column < 0 || column >= steps) continue;
    const lane = lanes.get(pod) ?? new Array<string | undefined>(steps).fill(undefined);
    const letter = LETTERS.get(place) ?? OTHER;
    lane[column] = lane[column] === undefined || lane[column] === letter ? letter : MANY;
    lanes.set(pod, lane);
  }
  return lanes;
}
