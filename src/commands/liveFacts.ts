/** The messages of the live view about the node itself, measured while somebody watches. */
import { combineLatest, defer, from, map, type Observable, of, startWith } from "rxjs";
import type { LiveNode } from "../core/live/liveMessages.ts";
import { liveNode } from "../core/live/liveNode.ts";
import { parseQuantity, quantityMilli } from "../core/quantity.ts";
import { orElse } from "../operators/orElse.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { createCallFigures } from "./callFigures.ts";
import { createHostFigures, type HostFiguresSetup } from "./hostFigures.ts";
import { sourceFigures } from "./sourceFigures.ts";

export interface LiveFactsSetup {
  readonly queries: Pick<KubeletQueries, "runtimeProblems" | "health" | "pressure" | "hardware" | "node">;
  readonly host: Pick<HostFiguresSetup, "hostUsage" | "rootDir">;
  readonly metrics: Pick<MetricsSink, "histogramTotals" | "counterTotals" | "gaugeValues">;
  readonly clock: Clock;
}

const USAGE_PERIOD_MS = 3_000;
/** A look at the eviction signals measures all pods and lists the images. */
const PRESSURE_PERIOD_MS = 60_000;

/** Emits the node at once and every USAGE_PERIOD_MS. Never completes, never errors. */
export function liveFacts({ queries, host, metrics, clock }: LiveFactsSetup): Observable<LiveNode> {
  const pressure$ = pollAfter(clock, PRESSURE_PERIOD_MS, () => known(queries.pressure()));
  const calls = createCallFigures(metrics);
  const cpuCapacityMillis = (): number | undefined => milliOf(queries.node().status?.capacity?.["cpu"]);
  const usage = createHostFigures({ ...host, clock, cpuCapacityMillis });
  const usage$ = pollAfter(clock, USAGE_PERIOD_MS, () =>
    combineLatest([usage(), defer(() => from(calls())), defer(() => from(sourceFigures(metrics)))]),
  );
  return combineLatest([pressure$.pipe(startWith(undefined)), usage$]).pipe(
    map(([pressure, [used, latencies, sources]]) =>
      liveNode({
        at: clock.wallTime(),
        problems: problemsOf(queries),
        ...{ usage: used, pressure, hardware: queries.hardware(), calls: latencies, sources },
      }),
    ),
  );
}

/** Emits undefined for what cannot be measured now. */
const known = <T>(call$: Observable<T>): Observable<T | undefined> => call$.pipe(orElse(() => of(undefined)));

const problemsOf = ({ runtimeProblems, health }: LiveFactsSetup["queries"]): readonly string[] => [
  ...runtimeProblems(),
  ...health().flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
];

function milliOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity && Number(quantityMilli(quantity));
}
