/**
 * Decides the user and group ID ranges of pods. No two pods share a range; the node's first range, which contains its
 * own users, is never assigned. pipelines/node/userNamespaces.ts keeps the ranges on disk. Upstream:
 * pkg/kubelet/userns.
 */
import { kubeletError } from "../errors.ts";
import type { PodUid } from "../ids.ts";
import { err, ok, type Result } from "../result.ts";

/** Consecutive IDs of the node. */
export interface IdRange {
  readonly firstId: number;
  readonly length: number;
}

/** IDs for pods, in ranges of `idsPerPod`; both bounds are multiples of it. */
export interface IdPool extends IdRange {
  readonly idsPerPod: number;
}

/** The assigned ranges. */
export interface IdRanges {
  /** First ID by pod. */
  readonly usedBy: ReadonlyMap<PodUid, number>;
  /** Pods that may run with unknown IDs, with the reason. */
  readonly unknown: ReadonlyMap<PodUid, string>;
}

/** The state without assigned ranges. */
export const noIdRanges: IdRanges = { usedBy: new Map(), unknown: new Map() };

/** Default number of IDs per pod: the range of 16-bit IDs. */
export const DEFAULT_IDS_PER_POD = 65_536;
const ALL_IDS = 2 ** 32;

const invalid = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));

/**
 * Returns the pool: the subordinate IDs of the kubelet's user if there are any, else all IDs but the first `idsPerPod`.
 * Errors: InvalidArgument with upstream's text when the IDs do not suffice for `maxPods`.
 */
export function idPoolOf(subordinate: IdRange | undefined, idsPerPod: number, maxPods: number): Result<IdPool> {
  const rest = { firstId: idsPerPod, length: ALL_IDS - idsPerPod - (ALL_IDS % idsPerPod) };
  const { firstId, length } = subordinate ?? rest;
  if (firstId % idsPerPod !== 0)
    return invalid(`kubelet user assigned ID ${firstId} is not a multiple of ${idsPerPod}`);
  if (firstId < idsPerPod) {
    return invalid(`kubelet user assigned ID ${firstId} must be greater or equal to ${idsPerPod}`);
  }
  if (length % idsPerPod !== 0) {
    return invalid(`kubelet user assigned IDs length ${length} is not a multiple of ${idsPerPod}`);
  }
  if (length / idsPerPod < maxPods) {
    return invalid(`kubelet user assigned IDs are not enough to support ${maxPods} pods`);
  }
  return ok({ firstId, length, idsPerPod });
}

/**
 * Parses the output of `getsubids`, `0: kubelet 65536 7208960`. Errors: InvalidArgument unless it has exactly one
 * range.
 */
export function parseSubordinateIds(output: string): Result<IdRange> {
  const [line = "", ...more] = output.trim().split("\n");
  const [, , firstId, length, ...rest] = line.split(/\s+/);
  const isNumber = (text: string | undefined): boolean => text !== undefined && /^\d+$/.test(text);
  if (more.length > 0) return invalid(`error parsing line ${JSON.stringify(output)}: it must contain only one line`);
  if (!isNumber(firstId) || !isNumber(length) || rest.length > 0)
    return invalid(`invalid line ${JSON.stringify(output)}`);
  return ok({ firstId: Number(firstId), length: Number(length) });
}

const withRange = (ranges: IdRanges, uid: PodUid, firstId: number): IdRanges => ({
  ...ranges,
  usedBy: new Map(ranges.usedBy).set(uid, firstId),
});

/** Assigns the lowest free range to the pod, or returns the pod's existing range. */
export function allocateRange(
  ranges: IdRanges,
  pool: IdPool,
  uid: PodUid,
): Result<{ readonly ranges: IdRanges; readonly firstId: number }> {
  const own = ranges.usedBy.get(uid);
  if (own !== undefined) return ok({ ranges, firstId: own });
  const [[unknown, why] = []] = ranges.unknown;
  if (unknown !== undefined) {
    const message = `no user namespace IDs can be assigned while those of pod ${JSON.stringify(unknown)} are unknown: ${why}`;
    return err(kubeletError("ResourceExhausted", message));
  }
  const taken = new Set(ranges.usedBy.values());
  for (let firstId = pool.firstId; firstId < pool.firstId + pool.length; firstId += pool.idsPerPod) {
    if (!taken.has(firstId)) return ok({ ranges: withRange(ranges, uid, firstId), firstId });
  }
  return err(kubeletError("ResourceExhausted", "could not find an empty slot to allocate a user namespace"));
}

/**
 * Records a range that was assigned earlier. Errors: InvalidArgument when it is not a range of the pool or belongs to
 * another pod.
 */
export function recordRange(ranges: IdRanges, pool: IdPool, uid: PodUid, range: IdRange): Result<IdRanges> {
  const { firstId, length } = range;
  if (length !== pool.idsPerPod) return invalid(`wrong user namespace length ${length}`);
  if (firstId % pool.idsPerPod !== 0) return invalid(`wrong user namespace offset specified ${firstId}`);
  if (firstId < pool.firstId || firstId >= pool.firstId + pool.length) return invalid(`id ${firstId} is out of range`);
  const holder = [...ranges.usedBy].find(([, taken]) => taken === firstId)?.[0];
  if (holder !== undefined && holder !== uid)
    return invalid(`range picked for pod ${JSON.stringify(uid)} already taken`);
  return ok(withRange(ranges, uid, firstId));
}

/** Records that a pod may use any IDs: no range is assigned until the pod is released. */
export const withUnknown = (ranges: IdRanges, uid: PodUid, why: string): IdRanges => ({
  ...ranges,
  unknown: new Map(ranges.unknown).set(uid, why),
});

/** Releases the pod's range, if it has one. */
export function releaseRange(ranges: IdRanges, uid: PodUid): IdRanges {
  if (!ranges.usedBy.has(uid) && !ranges.unknown.has(uid)) return ranges;
  const without = <T>(map: ReadonlyMap<PodUid, T>): ReadonlyMap<PodUid, T> =>
    new Map([...map].filter(([other]) => other !== uid));
  return { usedBy: without(ranges.usedBy), unknown: without(ranges.unknown) };
}
