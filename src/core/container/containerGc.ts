/**
 * Decides which dead containers and sandboxes are removed. Upstream: pkg/kubelet/kuberuntime/kuberuntime_gc.go.
 * Differs from upstream: containers and sandboxes without the kubelet's labels stay, and so does a container that may
 * be about to start.
 *
 *     dead containers --> of pods that are gone ------------------------------> removed
 *                     --> of others, beyond maxPerContainer of one name ------> removed, oldest first
 *                     --> of others, beyond maxTotal of the node -------------> removed: first an equal share for each
 *                                                                               name, then oldest first
 */
import { type Container, ContainerState, type PodSandbox, PodSandboxState } from "../../gen/cri.ts";
import type { EpochMs, PodUid } from "../ids.ts";
import type { PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { newestFirst } from "../runtime/criOrder.ts";

/** Limits of container garbage collection. */
export interface ContainerGcPolicy {
  /** Age below which a dead container stays, counted from its creation. */
  readonly minAgeMs: number;
  /** Dead containers that stay of each container of a pod; negative: no limit. */
  readonly maxPerContainer: number;
  /** Dead containers that stay on the node; negative: no limit. */
  readonly maxTotal: number;
}

/** Returns the pod of a container or sandbox; undefined when no kubelet created it. */
type OwnerOf = (id: string) => PodUid | undefined;

/** Returns whether a pod needs neither its dead containers nor its dead sandboxes. */
type IsGone = (uid: PodUid) => boolean;

/** How long the start of a created container may take. */
const START_MS = 60_000;

/**
 * Returns whether nothing of the pod is kept: its source has removed it, or it was evicted, and it has stopped. False
 * for every pod before the registry knows the pods of all sources. Upstream: ShouldPodContentBeRemoved.
 */
export function isContentGone({ records, isSettled }: Registry, uid: PodUid): boolean {
  const record = records.get(uid);
  if (record === undefined) return isSettled;
  return isSettled && isStopped(record) && (record.evicted || !record.wanted);
}

/**
 * Returns whether the pod has stopped for good or is gone. Upstream: ShouldPodRuntimeBeRemoved. Differs from upstream:
 * a static pod keeps its containers while its source has it. They are the only record of its end, and the next kubelet
 * would run it again.
 */
export function isRuntimeGone({ records, isSettled }: Registry, uid: PodUid): boolean {
  const record = records.get(uid);
  if (record === undefined) return isSettled;
  const isRecord = record.wanted && record.pod !== undefined && isStaticPod(record.pod);
  return isSettled && isStopped(record) && !isRecord;
}

const isStopped = ({ state }: PodRecord): boolean => state === "terminated" || state === "rejected";

/** Returns the dead containers to remove, in order. */
export function containersToRemove(
  containers: readonly Container[],
  ownerOf: OwnerOf,
  policy: ContainerGcPolicy,
  now: EpochMs,
  isGone: IsGone,
): readonly Container[] {
  const removed: Container[] = [];
  const units = new Map<string, Container[]>();
  for (const [unit, instances] of instancesByUnit(containers, ownerOf)) {
    const evictable = evictableOf(instances.containers, policy, now);
    if (isGone(instances.uid)) removed.push(...evictable);
    else if (evictable.length > 0) units.set(unit, evictable);
  }
  removed.sort(oldestFirst);
  if (policy.maxPerContainer >= 0) removed.push(...cutEach(units, policy.maxPerContainer));
  const count = (): number => [...units.values()].reduce((sum, { length }) => sum + length, 0);
  if (policy.maxTotal >= 0 && count() > policy.maxTotal) {
    removed.push(...cutEach(units, Math.max(1, Math.floor(policy.maxTotal / units.size))));
    const left = [...units.values()].flat().sort(oldestFirst);
    removed.push(...left.slice(0, Math.max(0, left.length - policy.maxTotal)));
  }
  return removed;
}

/** Groups the instances of each container of each pod, in the order of the list. */
function instancesByUnit(containers: readonly Container[], ownerOf: OwnerOf) {
  const units = new Map<string, { readonly uid: PodUid; readonly containers: Container[] }>();
  for (const container of containers) {
    const uid = ownerOf(container.id);
    if (uid === undefined) continue;
    const unit = `${uid}/${container.metadata?.name ?? ""}`;
    const known = units.get(unit);
    if (known === undefined) units.set(unit, { uid, containers: [container] });
    else known.containers.push(container);
  }
  return units;
}

/**
 * Returns the instances of a container that may be removed. Differs from upstream: an instance is at least as old as each
 * later attempt. After the wall clock was set back, the creation of an earlier instance lies in the future; if it
 * stayed while later ones were removed, it would seem to be the last.
 */
function evictableOf(instances: readonly Container[], { minAgeMs }: ContainerGcPolicy, now: EpochMs): Container[] {
  let ageMs = 0;
  return instances
    .toSorted((a, b) => newestFirst(orderOf(a), orderOf(b)))
    .filter(({ state, createdAt }) => {
      ageMs = Math.max(ageMs, now - Number(createdAt / 1_000_000n));
      if (state === ContainerState.CONTAINER_RUNNING) return false;
      return ageMs >= (state === ContainerState.CONTAINER_CREATED ? Math.max(minAgeMs, START_MS) : minAgeMs);
    });
}

/**
 * Keeps the newest `most` of each unit and returns the others, oldest first. Differs from upstream: a newest container
 * that never started does not count, because crash-loop backoff counts from the last exit.
 */
function cutEach(units: Map<string, Container[]>, most: number): readonly Container[] {
  return [...units].flatMap(([unit, containers]) => {
    const sorted = containers.toSorted((a, b) => newestFirst(orderOf(a), orderOf(b)));
    const unstarted = most > 0 && sorted[0]?.state === ContainerState.CONTAINER_CREATED ? 1 : 0;
    units.set(unit, sorted.slice(0, most + unstarted));
    return sorted.slice(most + unstarted).reverse();
  });
}

const orderOf = ({ createdAt, metadata }: Container | PodSandbox) => ({ createdAt, attempt: metadata?.attempt ?? 0 });

const oldestFirst = (a: Container, b: Container): number => Number(a.createdAt - b.createdAt);

/**
 * Returns the sandboxes to remove, oldest first: those that are not ready and have no containers, except the newest of
 * a pod that is not gone.
 */
export function sandboxesToRemove(
  sandboxes: readonly PodSandbox[],
  containers: readonly Pick<Container, "podSandboxId">[],
  ownerOf: OwnerOf,
  isGone: IsGone,
): readonly PodSandbox[] {
  const inUse = new Set(containers.map(({ podSandboxId }) => podSandboxId));
  const byPod = new Map<PodUid, PodSandbox[]>();
  for (const sandbox of sandboxes) {
    const uid = ownerOf(sandbox.id);
    if (uid !== undefined) addTo(byPod, uid, sandbox);
  }
  return [...byPod].flatMap(([uid, ofPod]) =>
    ofPod
      .toSorted((a, b) => newestFirst(orderOf(a), orderOf(b)))
      .slice(isGone(uid) ? 0 : 1)
      .filter(({ id, state }) => state !== PodSandboxState.SANDBOX_READY && !inUse.has(id))
      .reverse(),
  );
}

function addTo<K, T>(groups: Map<K, T[]>, key: K, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}
