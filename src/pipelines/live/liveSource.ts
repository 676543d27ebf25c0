/** The LiveSource port by the cells and queues of a node. Upstream: none. */
import { auditTime, map, merge, startWith } from "rxjs";
import { livePod } from "../../core/live/livePod.ts";
import { type LivePart, type LivePod, MAX_PODS } from "../../core/live/liveMessages.ts";
import { NO_VOLUMES } from "../../core/volume/podVolumes.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LiveSource } from "../../ports/liveSource.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { ImagePulls } from "../images/imagePull.ts";
import type { Queues } from "../queues.ts";
import { watchPlaces } from "./watchPlaces.ts";

const PODS_PERIOD_MS = 1_000;

/** Returns the source. `list`: the parts and the owners of cells, complete once somebody subscribes. */
export function createLiveSource(
  list: readonly LivePart[],
  state: NodeView,
  queues: Queues,
  { clock, images }: { readonly clock: Clock; readonly images: Pick<ImagePulls, "line"> },
): LiveSource {
  const { timelines, volumes, runtimeState, rollbacks } = state;
  const pods = (): readonly LivePod[] => {
    const node = {
      now: { wall: clock.wallTime(), mono: clock.monotonicMs() },
      pulls: images.line(),
      runtimeProblems: runtimeState.value.runtimeProblems,
    };
    return timelines
      .values()
      .filter((timeline) => timeline.state !== "gone")
      .slice(0, MAX_PODS)
      .map((timeline) => {
        const { uid } = timeline.identity;
        const rollback = rollbacks.value.find((each) => each.uid === uid);
        return livePod(timeline, { ...node, rollback, volumes: volumes.get(uid) ?? NO_VOLUMES });
      });
  };
  return {
    parts: list,
    places: [
      ...Object.entries(state)
        .filter(([, cell]) => isWatched(cell))
        .map(([name]) => ({ name, kind: "cell" as const })),
      ...Object.keys(queues).map((name) => ({ name, kind: "queue" as const })),
    ],
    drafts$: watchPlaces(state, queues, clock),
    pods$: merge(timelines.anyChange$, volumes.anyChange$, runtimeState.changes$, rollbacks.changes$).pipe(
      auditTime(PODS_PERIOD_MS, clock.scheduler),
      startWith(undefined),
      map(pods),
    ),
    queues: () => Object.entries(queues).map(([name, { size: depth, dropped }]) => ({ name, depth, dropped })),
  };
}

/** The counter that orders inspections has no values to watch. */
const isWatched = (cell: object): boolean => "changes$" in cell || "anyChange$" in cell;
