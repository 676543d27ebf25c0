/** Records the outputs of pod workers: timelines and statuses. One subscription to the workers feeds both. */
import { connect, merge, type Observable } from "rxjs";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../state/nodeState.ts";
import type { PodOutput } from "./podOutputs.ts";
import { podStatus } from "./podStatus.ts";
import { podTimeline } from "./podTimeline.ts";

/** Owner of the cells `timelines` and `podStatuses`. */
export const podRecords = (
  inputs: { readonly outputs$: Observable<PodOutput> },
  { clock }: Pick<KubeletPorts, "clock">,
  { registry, timelines, podStatuses }: Pick<NodeView, "registry"> & Pick<NodeState, "timelines" | "podStatuses">,
): Observable<unknown> =>
  inputs.outputs$.pipe(
    connect((outputs$) =>
      merge(
        podTimeline({ registry$: registry.changes$, outputs$ }, clock, timelines),
        podStatus({ outputs$ }, podStatuses),
      ),
    ),
  );
