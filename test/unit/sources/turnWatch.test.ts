import { expect, it, onTestFinished } from "vitest";
import { inStage, ownerStage, type Stage, watchStages } from "../../../src/operators/loopStage.ts";
import { atTurnEnd } from "../../../src/sources/systemClock.ts";
import { TurnWatch } from "../../../src/sources/turnWatch.ts";

const request: Stage = { kind: "http_request", text: "GET /pods" };
const worker = (name: string): Stage => ({ kind: "pod_worker", text: `pod worker default/${name}` });
const answer: Stage = { kind: "runtime_answer", text: "PodSandboxStatus answer", owner: worker("web") };

/** A watch with a clock of its own, in force for this test. Turns end when the test says so. */
function manualWatch() {
  let nowMs = 1_000;
  let endTurn = (): void => {};
  const watch = new TurnWatch({
    nowMs: () => nowMs,
    atTurnEnd: (ended) => {
      endTurn = ended;
    },
  });
  onTestFinished(watchStages(watch));
  return {
    watch,
    work: (ms: number): void => {
      nowMs += ms;
    },
    endTurn: () => endTurn(),
  };
}

it("a turn has the stage that was entered, its start and its length", () => {
  const { watch, work, endTurn } = manualWatch();
  inStage(request, () => work(60));
  endTurn();
  expect(watch.take()).toEqual([{ ...request, owner: undefined, startMs: 1_000, durationMs: 60 }]);
  expect(watch.take()).toEqual([]);
});

it("the stage that takes most of the turn is the one named, with its owner", () => {
  const { watch, work, endTurn } = manualWatch();
  inStage(worker("web"), () => {
    work(20);
    inStage(answer, () => work(30));
    work(5);
  });
  endTurn();
  expect(watch.take()).toMatchObject([
    { text: "PodSandboxStatus answer", owner: "pod worker default/web", durationMs: 55 },
  ]);
});

it("short stretches of one kind count together, and the longest of them is named", () => {
  const { watch, work, endTurn } = manualWatch();
  inStage(answer, () => {
    work(15);
    for (const [index, ms] of [8, 9, 7].entries()) inStage(worker(`web-${index}`), () => work(ms));
  });
  endTurn();
  expect(watch.take()).toMatchObject([{ kind: "pod_worker", text: "pod worker default/web-1", durationMs: 39 }]);
});

it("work after the outermost stage belongs to it until the turn ends", () => {
  const { watch, work, endTurn } = manualWatch();
  inStage(request, () => work(1));
  work(70);
  endTurn();
  work(500);
  inStage(worker("web"), () => work(12));
  endTurn();
  expect(watch.take()).toMatchObject([
    { text: "GET /pods", durationMs: 71 },
    { text: "pod worker default/web", durationMs: 12 },
  ]);
});

it("a stage that throws is left, and its time counts", () => {
  const { watch, work, endTurn } = manualWatch();
  const failing = (): void => {
    work(25);
    throw new Error("broken");
  };
  inStage(request, () => expect(() => inStage(worker("web"), failing)).toThrow("broken"));
  expect(watch.current).toBe(request);
  endTurn();
  expect(watch.take()).toMatchObject([{ kind: "pod_worker", durationMs: 25 }]);
});

it("turns below 10 ms are not kept, and of the others 128 at most", () => {
  const { watch, work, endTurn } = manualWatch();
  for (const ms of [9.9, ...new Array<number>(200).fill(10)]) {
    inStage(request, () => work(ms));
    endTurn();
  }
  expect(watch.take()).toHaveLength(128);
});

it("who puts work off answers for it: the owner of the current stage", () => {
  const { endTurn } = manualWatch();
  expect(inStage(request, ownerStage)).toBe(request);
  expect(inStage(answer, ownerStage)).toBe(answer.owner);
  endTurn();
  expect(ownerStage()).toBeUndefined();
});

it("a turn lasts until the microtasks that follow from it are over", async () => {
  let nowMs = 0;
  const watch = new TurnWatch({ nowMs: () => nowMs, atTurnEnd });
  onTestFinished(watchStages(watch));
  const handle = async (): Promise<void> => {
    await Promise.resolve();
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    nowMs += 90;
  };
  const handled = inStage(request, handle);
  // The end of the turn comes behind all of them.
  await new Promise<void>((ended) => {
    setImmediate(ended);
  });
  await handled;
  expect(watch.take()).toMatchObject([{ text: "GET /pods", durationMs: 90 }]);
});
