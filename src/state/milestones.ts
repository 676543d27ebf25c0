/** Moments in the life of a node, derived from its cells. */
import { combineLatest, filter, map, merge, type Observable, take } from "rxjs";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { PodRecord } from "../core/pod/podRegistryTypes.ts";
import type { NodeView } from "./nodeState.ts";

/** True once every configured pod source has reported. */
export const areSourcesSeen = (
  { sources }: Pick<KubeletConfig, "sources">,
  { sourcesSeen }: Pick<NodeView, "sourcesSeen">,
): boolean => sources.every((source) => sourcesSeen.value.has(source));

/** True while the pods of the API server are those from disk, and every other source has reported. */
export const arePodsRestored = (
  { sources }: Pick<KubeletConfig, "sources">,
  { sourcesSeen, restored }: Pick<NodeView, "sourcesSeen" | "restored">,
): boolean => restored.value && sources.every((source) => source === "api" || sourcesSeen.value.has(source));

/**
 * Emits once, when the runtime was listed and has reported its handlers. Pods start after that: running containers are
 * then adopted instead of started twice, and admission knows what the runtime supports.
 */
export const runtimeKnown = ({ listing, runtimeState }: Pick<NodeView, "listing" | "runtimeState">) =>
  combineLatest([listing.changes$, runtimeState.changes$]).pipe(
    filter(([listed, { handlers }]) => listed !== undefined && handlers !== undefined),
    take(1),
  );

/** Emits once, when the registry has the desired pods of all sources. */
export const registrySettled = ({ registry }: Pick<NodeView, "registry">) =>
  registry.changes$.pipe(
    filter(({ isSettled }) => isSettled),
    take(1),
  );

/** Emits once, when the registry has the desired pods of all sources and each of them that is not waiting has a status. */
export const statusesRebuilt = ({
  registry,
  podStatuses,
}: Pick<NodeView, "registry" | "podStatuses">): Observable<void> => {
  const isRebuilt = ({ identity, pod, state, wanted }: PodRecord): boolean =>
    pod === undefined || !wanted || state === "waiting" || podStatuses.get(identity.uid) !== undefined;
  return podsChanged({ registry, podStatuses }).pipe(
    filter(() => registry.value.isSettled && [...registry.value.records.values()].every(isRebuilt)),
    take(1),
  );
};

/** Emits once, when the node has no pods. */
export const noPodsLeft = ({ registry }: Pick<NodeView, "registry">) =>
  registry.changes$.pipe(
    filter(({ records }) => records.size === 0),
    take(1),
  );

/** Emits after a pod or the status of a pod changed. */
export const podsChanged = ({ registry, podStatuses }: Pick<NodeView, "registry" | "podStatuses">): Observable<void> =>
  merge(registry.changes$, podStatuses.anyChange$).pipe(map(() => undefined));
