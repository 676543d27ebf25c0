/** The result of one relist: the pods in the runtime, in a form that is cheap to compare with the next relist. */
import { POD_UID_LABEL } from "../container/labels.ts";
import { isPathSegment } from "../pathSegment.ts";
import { perObject } from "../perObject.ts";
import { type PodUid, podUid } from "../ids.ts";
import type { Container, PodSandbox } from "../../gen/cri.ts";
import type { UninspectedPod } from "./measuredPods.ts";
import type { PodRuntimeStatus, RuntimeContainerState } from "./podRuntimeStatus.ts";

/** A pod in a relist. */
export interface ListedPod {
  readonly podUid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Whether a sandbox is ready or a container is running. */
  readonly running: boolean;
  /** Sorted IDs with states. Equal prints mean equal states. */
  readonly print: string;
}

export interface RuntimeListing {
  readonly pods: ReadonlyMap<PodUid, ListedPod>;
  /** The pod of each container or sandbox ID. */
  readonly owners: ReadonlyMap<string, PodUid>;
  /** Pods whose last inspection is older than this relist, as listed; absent when there are none. */
  readonly uninspected?: ReadonlyMap<PodUid, UninspectedPod>;
  /** IDs left out because their labels cannot be a kubelet's; absent when there are none. */
  readonly ignored?: readonly string[];
}

export const emptyListing: RuntimeListing = { pods: new Map(), owners: new Map() };

/** The last known print of each pod, from a relist or from inspections. */
export interface PodPrints {
  readonly pods: ReadonlyMap<PodUid, Pick<ListedPod, "print">>;
}

const SANDBOX_READY = 0;
const SANDBOX_NOTREADY = 1;
const CONTAINER_RUNNING = 1;

const NAME_LABEL = "io.kubernetes.pod.name";
const NAMESPACE_LABEL = "io.kubernetes.pod.namespace";

/** Whether the pod in these labels can have directories: UID, name and namespace each become a directory name. */
const canHaveDirectories = (uid: string, labels: Readonly<Record<string, string>>): boolean =>
  [uid, labels[NAME_LABEL] ?? "", labels[NAMESPACE_LABEL] ?? ""].every((text) => text === "" || isPathSegment(text));

/** Groups a relist by pod. Ignores sandboxes and containers without the kubelet's labels. */
export function listingOf(sandboxes: readonly PodSandbox[], containers: readonly Container[]): RuntimeListing {
  const owners = new Map<string, PodUid>();
  const parts = new Map<PodUid, { name: string; namespace: string; running: boolean; prints: string[] }>();
  const ignored: string[] = [];
  const note = (id: string, labels: Readonly<Record<string, string>>, state: number, running: boolean): void => {
    const uid = labels[POD_UID_LABEL];
    if (uid === undefined || uid === "") return;
    if (!canHaveDirectories(uid, labels)) {
      ignored.push(id);
      return;
    }
    const owner = podUid(uid);
    owners.set(id, owner);
    const part = parts.get(owner) ?? {
      name: labels[NAME_LABEL] ?? "",
      namespace: labels[NAMESPACE_LABEL] ?? "",
      running: false,
      prints: [],
    };
    part.running ||= running;
    part.prints.push(`${id}=${state}`);
    parts.set(owner, part);
  };
  for (const { id, labels, state } of sandboxes) note(id, labels, state, state === SANDBOX_READY);
  for (const { id, labels, state } of containers) note(id, labels, state, state === CONTAINER_RUNNING);
  const pods = new Map<PodUid, ListedPod>();
  for (const [uid, { name, namespace, running, prints }] of parts) {
    pods.set(uid, { podUid: uid, name, namespace, running, print: prints.sort().join(" ") });
  }
  return { pods, owners, ...(ignored.length === 0 ? {} : { ignored }) };
}

const STATE_NUMBERS: Readonly<Record<RuntimeContainerState, number>> = {
  created: 0,
  running: 1,
  exited: 2,
  unknown: 3,
};

/**
 * Returns the prints of the last inspections, to compare with a relist. Omits pods without sandboxes and containers.
 */
export function inspectedPrints(statuses: readonly PodRuntimeStatus[]): PodPrints {
  const pods = new Map<PodUid, Pick<ListedPod, "print">>();
  for (const status of statuses) {
    const print = inspectedPrint(status);
    if (print !== "") pods.set(status.podUid, { print });
  }
  return { pods };
}

const inspectedPrint = perObject(({ sandboxes, containers }: PodRuntimeStatus): string => {
  const parts = [
    ...sandboxes.map(({ id, ready }) => `${id}=${ready ? SANDBOX_READY : SANDBOX_NOTREADY}`),
    ...containers.map(({ id, state }) => `${id}=${STATE_NUMBERS[state]}`),
  ];
  return parts.sort().join(" ");
});

/** Returns the pods that were added, removed or changed state. */
export function changedPods(before: PodPrints, after: PodPrints): readonly PodUid[] {
  const changed: PodUid[] = [];
  for (const [uid, { print }] of after.pods) if (before.pods.get(uid)?.print !== print) changed.push(uid);
  for (const uid of before.pods.keys()) if (!after.pods.has(uid)) changed.push(uid);
  return changed;
}
