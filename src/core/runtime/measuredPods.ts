/**
 * The pods whose usage is measured: each as last inspected, or as last listed if that is newer. A listing is two calls
 * for all pods, while an inspection waits for an answer about each container. Without the listing, a pod whose runtime
 * status is late would have no figures and would be evicted first. Upstream: cri_stats_provider.go, which lists
 * sandboxes and containers for each measurement.
 */
import { type Container, type PodSandbox, PodSandboxState } from "../../gen/cri.ts";
import { containerId, epochMs, type PodUid, sandboxId } from "../ids.ts";
import { containerStateOf, newestFirst } from "./criOrder.ts";
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "./podRuntimeStatus.ts";

/** The part of a pod's runtime status that a measurement needs. */
export interface MeasuredPod extends Pick<PodRuntimeStatus, "podUid" | "name" | "namespace"> {
  /** Newest first. */
  readonly sandboxes: readonly Pick<RuntimeSandbox, "id" | "ready" | "createdAt" | "hostNetwork">[];
  /** Newest first. */
  readonly containers: readonly Pick<RuntimeContainer, "id" | "name" | "state" | "createdAt">[];
}

/** A pod as listed, because its last inspection is older. */
export interface UninspectedPod extends MeasuredPod {
  /** Sequence of its last inspection; 0 if it was never inspected. */
  readonly inspection: number;
}

/** The pods of a relist, and the owner of each ID. */
interface ListedPods {
  readonly pods: ReadonlyMap<PodUid, Pick<MeasuredPod, "name" | "namespace">>;
  readonly owners: ReadonlyMap<string, PodUid>;
}

/** The sandboxes and containers of the runtime in one relist. */
export interface ListedParts {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** Returns the pods with these UIDs as listed, without those that the runtime no longer has. */
export function uninspectedPods(
  uids: readonly PodUid[],
  { sandboxes, containers }: ListedParts,
  { pods, owners }: ListedPods,
  inspected: (uid: PodUid) => PodRuntimeStatus | undefined,
): ReadonlyMap<PodUid, UninspectedPod> {
  if (uids.length === 0) return new Map();
  const sandboxesOf = Map.groupBy(sandboxes, ({ id }) => owners.get(id));
  const containersOf = Map.groupBy(containers, ({ id }) => owners.get(id));
  return new Map(
    uids.flatMap((uid): readonly (readonly [PodUid, UninspectedPod])[] => {
      const listed = pods.get(uid);
      if (listed === undefined) return [];
      const known = inspected(uid);
      const { name, namespace } = listed;
      const parts = {
        sandboxes: sorted(sandboxesOf.get(uid)).map((sandbox) => sandboxOf(sandbox, known)),
        containers: sorted(containersOf.get(uid)).map(containerOf),
      };
      return [[uid, { podUid: uid, name, namespace, ...parts, inspection: known?.sequence ?? 0 }]];
    }),
  );
}

const sorted = <T extends PodSandbox | Container>(parts: readonly T[] = []): readonly T[] =>
  parts.toSorted((a, b) => newestFirst(orderOf(a), orderOf(b)));

const orderOf = ({ createdAt, metadata }: Container | PodSandbox) => ({ createdAt, attempt: metadata?.attempt ?? 0 });

/** A list does not report whose network a sandbox uses: that of an unknown one is not measured. */
function sandboxOf({ id, state, createdAt }: PodSandbox, known: PodRuntimeStatus | undefined) {
  return {
    id: sandboxId(id),
    ready: state === PodSandboxState.SANDBOX_READY,
    createdAt: millisOf(createdAt),
    hostNetwork: known?.sandboxes.find((each) => each.id === id)?.hostNetwork ?? true,
  };
}

const containerOf = ({ id, metadata, state, createdAt }: Container) => ({
  id: containerId(id),
  name: metadata?.name ?? "",
  state: containerStateOf(state),
  createdAt: millisOf(createdAt),
});

const millisOf = (nanos: bigint) => epochMs(Number(nanos / 1_000_000n));

/** Returns all pods, each as known last. */
export function measuredPods(
  inspected: readonly PodRuntimeStatus[],
  uninspected: ReadonlyMap<PodUid, UninspectedPod> | undefined,
): readonly MeasuredPod[] {
  if (uninspected === undefined) return inspected;
  const pods = new Map<PodUid, MeasuredPod>(inspected.map((pod) => [pod.podUid, pod]));
  const sequences = new Map(inspected.map(({ podUid, sequence }) => [podUid, sequence]));
  for (const [uid, pod] of uninspected) if ((sequences.get(uid) ?? 0) <= pod.inspection) pods.set(uid, pod);
  return [...pods.values()];
}
