/** Real stalls of this process: the platform's own sampler has to see them. */
import { filter, firstValueFrom, merge, Observable } from "rxjs";
import { expect, it } from "vitest";
import { inStage } from "../../../src/operators/loopStage.ts";
import { loopStalls } from "../../../src/sources/loopStalls.ts";
import { realClock } from "../../support/realClock.ts";

/** Takes CPU time: on a busy machine that is longer than `ms`. */
const compute = (ms: number): void => {
  const before = process.threadCpuUsage();
  const spentMs = (): number => process.threadCpuUsage(before).user / 1_000;
  while (spentMs() < ms);
};

/** Does it in a turn of its own. */
const inTurn = (work: () => void): Observable<never> =>
  new Observable(() => {
    const immediate = setImmediate(work);
    return () => clearImmediate(immediate);
  });

it("a stall is reported with the name of its stage", async () => {
  const stage = { kind: "http_request", text: "GET /pods" } as const;
  const stalled$ = inTurn(() => inStage(stage, () => compute(200)));
  const told$ = merge(loopStalls(realClock, 0), stalled$).pipe(filter(({ kind }) => kind === stage.kind));
  expect(await firstValueFrom(told$)).toMatchObject({ stage: "GET /pods" });
});

it("a stall of work that no stage names is unknown", async () => {
  // Again and again: what earlier tests left may be collected in the midst of one.
  const stalled$ = new Observable<never>(() => {
    const interval = setInterval(() => compute(300), 600);
    return () => clearInterval(interval);
  });
  const told$ = merge(loopStalls(realClock, 0), stalled$).pipe(filter(({ kind }) => kind === "unknown"));
  expect((await firstValueFrom(told$)).durationMs).toBeGreaterThan(200);
});
