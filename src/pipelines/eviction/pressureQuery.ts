/**
 * The pressure view for the servers. Bounds: one measurement at a time, kept for a second; FIGURE_DEADLINE_MS for the
 * stats of pods and for the listings of the runtime. Writes no cell.
 */
import { catchError, defaultIfEmpty, forkJoin, map, of } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import { rankingFor } from "../../core/eviction/chooseVictim.ts";
import {
  decidingSignal,
  type PressureInput,
  type PressureView,
  pressureView,
} from "../../core/eviction/pressureView.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { deadline } from "../../operators/deadline.ts";
import { keptFor } from "../../operators/keptFor.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { GarbageCollection } from "../garbageCollection.ts";
import { FIGURE_DEADLINE_MS, orUndefined } from "../stats/measuredFigure.ts";
import { instantOf } from "./evictionContext.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry">;
type Config = Pick<KubeletConfig, "evictionThresholds" | "imageGc">;
type State = Pick<NodeView, "registry" | "pressures" | "eviction" | "signalLooks">;

/** Measurements behind the view. */
export interface PressureTools {
  readonly stats: Pick<NodeStats, "summary" | "diskLayout">;
  readonly garbage: Pick<GarbageCollection, "unused">;
}

const KEPT_MS = 1_000;

/** Returns the query. A measurement that fails leaves its part of the view out. */
export function pressureQuery(
  ports: Ports,
  { evictionThresholds: thresholds, imageGc: policy }: Config,
  state: State,
  { stats, garbage }: PressureTools,
): () => Call<PressureView> {
  const order$ = forkJoin({ summary: stats.summary(), layout: stats.diskLayout() }).pipe(
    deadline(FIGURE_DEADLINE_MS, ports.clock),
    map(({ summary, layout }): PressureInput["order"] => {
      const signal = decidingSignal(thresholds, state.signalLooks.value);
      const usage = { registry: state.registry.value, summary, layout };
      return { ranks: signal === undefined ? [] : rankingFor(signal, usage) };
    }),
    catchError((thrown: unknown) => of({ problem: `cannot measure the pods: ${toKubeletError(thrown).message}` })),
    defaultIfEmpty({ problem: "cannot measure the pods" }),
  );
  const view$ = keptFor(KEPT_MS, ports.clock, () =>
    forkJoin({
      order: order$,
      unused: orUndefined(garbage.unused(), ports).pipe(defaultIfEmpty(undefined)),
    }).pipe(
      map((measured) =>
        pressureView({
          ...measured,
          now: instantOf(ports.clock),
          thresholds,
          policy,
          looks: state.signalLooks.value,
          state: state.eviction.value.state,
          decision: state.eviction.value.decision,
          pressures: state.pressures.value,
          pods: podsThatRun(state),
        }),
      ),
    ),
  );
  return () => view$;
}

function podsThatRun({ registry }: Pick<NodeView, "registry">): readonly Pod[] {
  const pods: Pod[] = [];
  for (const { state, pod, successor } of registry.value.records.values()) {
    if (state !== "terminated" && state !== "rejected" && pod !== undefined) pods.push(pod);
    if (successor !== undefined) pods.push(successor);
  }
  return pods;
}
