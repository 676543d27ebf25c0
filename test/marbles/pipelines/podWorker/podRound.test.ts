import { concat, finalize, ignoreElements, map, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { InvariantError } from "../../../../src/core/invariant.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";
import { effect, inspect, type PodContext } from "../../../../src/pipelines/podContext.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { type PodRound, podRound, wakeAfter } from "../../../../src/pipelines/podWorker/podRound.ts";
import { failed, type RoundOutput } from "../../../../src/pipelines/podWorker/roundFailure.ts";
import type { PodOutput } from "../../../../src/pipelines/podOutputs.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { createSequence } from "../../../../src/state/sequence.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const UID = podUid("uid-1");
const refused = kubeletError("Unknown", "no");

/** The parts of a pod's context that a round uses, and the status it decides from. */
function pod({ clock }: Pick<Marbles, "clock">) {
  const telemetry = recordingTelemetry();
  const world = { status: emptyRuntimeStatus(UID, "n", "ns", 0) as PodRuntimeStatus | undefined, telemetry };
  const runtimeState = createCell(unknownRuntimeState);
  const context = {
    identity: { uid: UID, name: "n", namespace: "ns" },
    memory: createPodMemories(clock.monotonicMs()),
    ports: { clock, rng: fixedRng(), telemetry },
    state: { sequence: createSequence(), runtimeState },
    runtimeStatus: () => world.status,
  } as unknown as PodContext;
  /** Another inspection with the same result. */
  const inspectNow = () => (world.status = emptyRuntimeStatus(UID, "n", "ns", context.state.sequence.next()));
  return { ...world, world, context, memory: context.memory, runtimeState, inspectNow };
}

/** Runs rounds with what the acts did noted in `acts`. */
function rounds(context: PodContext, more: Partial<PodRound<string>> = {}) {
  const said: (PodOutput["kind"] | { readonly thrown: unknown })[] = [];
  const acts: number[] = [];
  const run = (plan = "plan", errors: readonly (typeof refused)[] = []) =>
    podRound<string>(context, {
      plan: () => plan,
      span: () => undefined,
      act: () => {
        acts.push(context.ports.clock.monotonicMs());
        return of<RoundOutput[]>(...errors.map(failed), { kind: "finished", uid: UID });
      },
      ...more,
    }).subscribe({ next: ({ kind }) => said.push(kind), error: (thrown: unknown) => said.push({ thrown }) });
  return { run, said, acts };
}

describe("podRound: when it may decide", () => {
  it(
    "repeats a round before its time only when the state of the runtime has changed",
    marbles((m) => {
      const { context, runtimeState, inspectNow } = pod(m);
      const { run, acts } = rounds(context);
      inspectNow();
      run("plan", [refused]);
      run("plan", [refused]);
      expect(acts).toEqual([0]);
      runtimeState.set({ ...runtimeState.value });
      run("plan", [refused]);
      run("plan", [refused]);
      expect(acts).toEqual([0, 0]);
    }),
  );

  it(
    "requests an inspection when the runtime has uninspected parts of the pod",
    marbles((m) => {
      const { context, world } = pod(m);
      const { run, said, acts } = rounds(context);
      world.status = undefined;
      run();
      run();
      expect([said, acts]).toEqual([["inspect", "inspect"], []]);
    }),
  );

  it(
    "waits for the inspection requested after an effect",
    marbles((m) => {
      const { context, inspectNow } = pod(m);
      const { run, said } = rounds(context);
      effect(context, { name: "StopContainer" }, () => of(1)).subscribe({});
      inspect(context);
      run();
      expect(said).toEqual([]);
      inspectNow();
      run();
      expect(said).toEqual(["finished"]);
    }),
  );

  it(
    "requests an inspection once after a cancelled effect",
    marbles((m) => {
      const { context, inspectNow } = pod(m);
      const { run, said } = rounds(context);
      effect(context, { name: "StopContainer" }, () => NEVER)
        .subscribe({})
        .unsubscribe();
      run();
      run();
      expect(said).toEqual(["inspect"]);
      inspectNow();
      run();
      expect(said).toEqual(["inspect", "finished"]);
    }),
  );

  it(
    "does not use an inspection that started before an effect, however late its call completes",
    marbles((m) => {
      const { context, inspectNow, memory } = pod(m);
      const { run, said } = rounds(context);
      const call = effect(context, { name: "StopContainer" }, () => concat(of(1), NEVER)).subscribe({});
      run();
      expect(said).toEqual(["inspect"]);
      inspectNow();
      call.unsubscribe();
      run();
      expect([said, memory.effects.requiredSequence]).toEqual([["inspect", "finished"], 1]);
    }),
  );
});

describe("podRound: doing the same again", () => {
  it(
    "does not repeat a failed round before its delay ends, and wakes then",
    marbles((m) => {
      const { context } = pod(m);
      const { run, acts } = rounds(context);
      const wakes: (number | undefined)[] = [];
      for (const ms of [0, 1, 9_999, 10_000]) {
        m.at(ms, () => {
          run("plan", [refused]);
          wakes.push(wakeAfter(context));
        });
      }
      m.flush();
      expect([acts, wakes]).toEqual([
        [0, 10_000],
        [10_000, 9_999, 1, 10_000],
      ]);
    }),
  );

  it(
    "carries out another plan at once, and after it the first one again",
    marbles((m) => {
      const { context } = pod(m);
      const { run, acts } = rounds(context);
      for (const [ms, plan] of [
        [0, "a"],
        [1, "b"],
        [2, "b"],
        [3, "a"],
      ] as const)
        m.at(ms, () => run(plan, [refused]));
      m.flush();
      expect(acts).toEqual([0, 1, 3]);
    }),
  );

  it(
    "compares only what is essential",
    marbles((m) => {
      const { context } = pod(m);
      const { run, acts } = rounds(context, { essence: (plan) => plan.slice(0, 1) });
      for (const [ms, plan] of [
        [0, "a1"],
        [1, "a2"],
        [2, "b1"],
      ] as const)
        m.at(ms, () => run(plan, [refused]));
      m.flush();
      expect(acts).toEqual([0, 2]);
    }),
  );

  it(
    "counts only the undone part as a retry of the round",
    marbles((m) => {
      const { context } = pod(m);
      const { run, acts } = rounds(context, { left: (plan) => (plan === "ab" ? "b" : undefined) });
      for (const [ms, plan] of [
        [0, "ab"],
        [1, "ab"],
        [2, "b"],
        [3, "ab"],
        [4, "b"],
      ] as const)
        m.at(ms, () => run(plan, [refused]));
      m.flush();
      expect(acts).toEqual([0, 3]);
    }),
  );

  it(
    "runs again at the wake-up, also before the delay ends",
    marbles((m) => {
      const { context, memory } = pod(m);
      const { run, acts } = rounds(context);
      m.at(0, () => run());
      m.at(1, () => (memory.rounds.wakeAt = context.ports.clock.monotonicMs() as never));
      m.at(1, () => run());
      m.flush();
      expect([acts, memory.rounds.wakeAt]).toEqual([[0, 1], undefined]);
    }),
  );

  it(
    "wakes to retry without an error only when an inspection must show the end",
    marbles((m) => {
      const one = pod(m);
      rounds(one.context).run();
      const other = pod(m);
      rounds(other.context, { untilShown: true }).run();
      expect([wakeAfter(one.context), wakeAfter(other.context)]).toEqual([undefined, 10_000]);
    }),
  );

  it(
    "never wakes while it waits for an inspection",
    marbles((m) => {
      const { context, inspectNow } = pod(m);
      rounds(context, { untilShown: true }).run();
      effect(context, { name: "StopContainer" }, () => of(1)).subscribe({});
      expect(wakeAfter(context)).toBe(undefined);
      inspectNow();
      expect(wakeAfter(context)).toBe(10_000);
    }),
  );
});

describe("podRound: faults", () => {
  const fault = () => {
    throw new Error("oops");
  };
  const faults = [
    ["told", () => throwError(() => new Error("oops"))],
    ["thrown", fault],
    ["thrown half-way", () => of<PodOutput>({ kind: "finished", uid: UID }).pipe(map(fault))],
  ] as const;
  it.each(faults)("counts an error, %s, as a failure of the pod: logged and retried", (_how, act) => {
    marbles((m) => {
      const { context, telemetry } = pod(m);
      const { run, said } = rounds(context, { act });
      run();
      expect([said, telemetry.lines.map(({ message }) => message), wakeAfter(context)]).toEqual([
        [],
        ["A step of a pod failed unexpectedly"],
        10_000,
      ]);
    })();
  });

  it(
    "passes a broken invariant on: it ends the node",
    marbles((m) => {
      const { context } = pod(m);
      const thrown = new InvariantError("impossible");
      const { run, said } = rounds(context, { act: () => throwError(() => thrown) });
      run();
      expect(said).toEqual([{ thrown }]);
    }),
  );
});

describe("effect", () => {
  it(
    "turns a value into a Result",
    marbles((m) => {
      const call = "    --(v|)";
      const expected = "--(v|)";

      const { context } = pod(m);
      const result$ = effect(context, { name: "StopContainer" }, () => m.cold(call));
      m.expectObservable(result$).toBe(expected, { v: { ok: true, value: "v" } });
    }),
  );

  it(
    "turns an error into a Result",
    marbles((m) => {
      const call = "    --#";
      const expected = "--(e|)";

      const { context } = pod(m);
      const result$ = effect(context, { name: "StopContainer" }, () => m.cold(call, {}, refused));
      m.expectObservable(result$).toBe(expected, { e: { ok: false, error: refused } });
    }),
  );

  it(
    "turns a throw before the call into a Result",
    marbles((m) => {
      const expected = "(e|)";

      const { context } = pod(m);
      const error = kubeletError("Unknown", "oops", { cause: new Error("oops") });
      const throwing = () => {
        throw error.cause;
      };
      const result$ = effect(context, { name: "StopContainer" }, throwing);
      m.expectObservable(result$).toBe(expected, { e: { ok: false, error } });
    }),
  );

  it(
    "requires a newer inspection after the call ended",
    marbles((m) => {
      const call = "    --(v|)";
      const expected = "--|";

      const { context, memory } = pod(m);
      const required: number[] = [];
      const result$ = effect(context, { name: "StopContainer" }, () => m.cold(call)).pipe(
        ignoreElements(),
        finalize(() => required.push(memory.effects.requiredSequence)),
      );
      m.expectObservable(result$).toBe(expected);
      m.flush();
      expect(required).toEqual([1]);
    }),
  );

  it(
    "requires a newer inspection after the call was cancelled",
    marbles((m) => {
      const call = "    ----------v";
      const unsub = "   ----!";
      const expected = "-----";

      const { context, memory } = pod(m);
      const required: number[] = [];
      const result$ = effect(context, { name: "StopContainer" }, () => m.cold(call)).pipe(
        finalize(() => required.push(memory.effects.requiredSequence)),
      );
      m.expectObservable(result$, unsub).toBe(expected);
      m.flush();
      expect(required).toEqual([1]);
    }),
  );
});
