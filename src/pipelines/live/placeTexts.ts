/**
 * Texts of the live view about values in cells and queues: a few words, never a value of a Secret, a token or an environment
 * variable.
 */
import type { PodStatus } from "../../core/api.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { Registry, RegistryInput } from "../../core/pod/podRegistryTypes.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { Cell } from "../../state/cell.ts";
import type { NodeState } from "../../state/nodeState.ts";
import type { PodOutput } from "../podOutputs.ts";

/** A text about a value, and the UID of the pod that it concerns. */
export interface Said {
  readonly text: string;
  readonly detail?: string;
  readonly pod?: string;
  readonly outcome?: "warning";
}

type PlainCell = {
  [N in keyof NodeState]: NodeState[N] extends Cell<never> | Cell<infer _> ? N : never;
}[keyof NodeState];
type ValueOf<N extends PlainCell> = NodeState[N]["value"];

/** Texts of cells. A cell without one says how much it holds. */
const CELL_TEXTS: { readonly [N in PlainCell]?: (value: ValueOf<N>) => string } = {
  listing: (listing) => `${count(listing?.pods.size ?? 0, "pod")} in the runtime`,
  relistedAt: () => "relisted",
  runtimeState: ({ runtimeProblems, networkProblems }) =>
    [...runtimeProblems, ...networkProblems].join("; ") || "ready",
  pressures: (pressures) => namesOfTrue(pressures).join(", ") || "no pressure",
  shuttingDown: (is) => (is ? "the machine shuts down" : "no shutdown"),
  restored: (is) => (is ? "pods from disk run" : "pods of the API server run"),
  sourcesSeen: (sources) => [...sources].join(", "),
  problems: (problems) => `${[...problems.values()].flat().length} problems of manifests`,
  node: (node) => {
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    return ready === undefined ? "no Node" : `Ready ${ready.status}`;
  },
};

/** Returns the text of a new value of a cell. */
export function cellText(name: string, value: unknown): string {
  const text = (CELL_TEXTS as Readonly<Record<string, ((value: never) => string) | undefined>>)[name];
  return text === undefined ? amountOf(value) : text(value as never);
}

function amountOf(value: unknown): string {
  if (value === undefined) return "none";
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) {
    return `${Array.isArray(value) ? value.length : value.size} entries`;
  }
  return "changed";
}

/** Returns a text for each pod whose state changed between two registries. */
export function registrySaid(before: Registry, after: Registry): readonly Said[] {
  const said: Said[] = [];
  for (const [pod, record] of after.records) {
    const known = before.records.get(pod);
    if (known?.state !== record.state) said.push({ pod, text: record.state });
    else if (known !== record) said.push({ pod, text: `${record.state}, changed` });
  }
  for (const pod of before.records.keys()) if (!after.records.has(pod)) said.push({ pod, text: "removed" });
  return said;
}

/** Returns the text of a pod's status. */
export function statusSaid({ phase = "Unknown", reason, message, conditions }: PodStatus): Omit<Said, "pod"> {
  const isReady = conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  const text = [phase, isReady ? "Ready" : "not Ready", ...(reason === undefined ? [] : [reason])].join(", ");
  return message === undefined ? { text } : { text, detail: message };
}

/** Returns the text of a pod in the runtime. */
export function runtimeSaid({ sandboxes, containers }: PodRuntimeStatus): Omit<Said, "pod"> {
  const [sandbox] = sandboxes;
  const latest = new Map(containers.toReversed().map((container) => [container.name, container]));
  const parts = [...latest.values()].map(
    ({ name, state, exitCode }) => `${name} ${state}${state === "exited" ? ` ${exitCode}` : ""}`,
  );
  return { text: [sandbox?.ready === true ? "sandbox ready" : "no sandbox", ...parts].join(", ") };
}

/** Returns the text of a pod's volumes. */
export const volumesSaid = ({ wishes, unmounted, refused }: PodVolumes): Omit<Said, "pod"> => ({
  text: `${wishes.size - unmounted} of ${count(wishes.size, "volume")} mounted`,
  ...(refused > 0 ? { outcome: "warning" as const, detail: `${count(refused, "volume")} refused` } : {}),
});

/** Returns the text of an input of the registry. */
export function inputSaid(input: RegistryInput): Said {
  if (input.kind !== "update") return { text: input.kind, ...podOf(input) };
  const { op, pods } = input.update;
  const [first, ...others] = pods;
  if (first === undefined || others.length > 0) return { text: `${op} ${count(pods.length, "pod")}` };
  return { text: `${op} ${first.metadata.name}`, pod: first.metadata.uid };
}

/** Returns the text of an event. */
export const eventSaid = ({ type, reason, message, object }: KubeletEvent): Said => ({
  text: reason,
  detail: message,
  ...(object.kind === "Pod" ? { pod: object.uid } : {}),
  ...(type === "Warning" ? { outcome: "warning" as const } : {}),
});

/** Returns the text of an output about a pod that the node ends. */
export const outputSaid = (output: PodOutput): Said => ({ text: output.kind, ...podOf(output) });

const podOf = (value: object): { readonly pod?: string } =>
  "uid" in value && typeof value.uid === "string" ? { pod: value.uid } : {};

const namesOfTrue = (flags: object): readonly string[] =>
  Object.entries(flags).flatMap(([name, is]) => (is === true ? [name] : []));

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
