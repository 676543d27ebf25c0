/** Read access to the timelines for the servers: computes the current view of one pod, with its waits. */
import { timelineView, type TimelineView } from "../core/timeline/timelineView.ts";
import type { PodTimeline } from "../core/timeline/timelineTypes.ts";
import { NO_VOLUMES } from "../core/volume/podVolumes.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeView } from "../state/nodeState.ts";
import type { ImagePulls } from "./images/imagePull.ts";
import { KEPT_MS } from "./podTimeline.ts";

/**
 * The queries about timelines. Among several pods with one name, an existing one precedes removed ones, then the
 * latest.
 */
export function timelineQueries(
  clock: Clock,
  state: Pick<NodeView, "timelines" | "runtimeState" | "volumes" | "problems" | "rollbacks">,
  images: Pick<ImagePulls, "line">,
): Pick<KubeletQueries, "timeline" | "timelineNames"> {
  const known = (): readonly PodTimeline[] => {
    const now = clock.monotonicMs();
    return state.timelines.values().filter(({ state: is, since }) => is !== "gone" || now - since.mono <= KEPT_MS);
  };
  return {
    timeline: (namespace, name): TimelineView | undefined => {
      const named = known().filter(({ identity }) => identity.namespace === namespace && identity.name === name);
      const found = named.findLast(({ state: is }) => is !== "gone") ?? named.toSorted(byGone).at(-1);
      if (found === undefined) return undefined;
      const node = {
        now: { wall: clock.wallTime(), mono: clock.monotonicMs() },
        pulls: images.line(),
        runtimeProblems: state.runtimeState.value.runtimeProblems,
        rollback: state.rollbacks.value.find(({ uid }) => uid === found.identity.uid),
        volumes: state.volumes.get(found.identity.uid) ?? NO_VOLUMES,
      };
      return timelineView(found, node, [...state.problems.value.values()].flat());
    },
    timelineNames: () => [...new Set(known().map(({ identity: { namespace, name } }) => `${namespace}/${name}`))],
  };
}

const byGone = (a: PodTimeline, b: PodTimeline): number => a.since.mono - b.since.mono;
