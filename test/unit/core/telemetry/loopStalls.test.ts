import { expect, it } from "vitest";
import { type LoopStall, type LoopTurn, type LoopWindow, stallsOf } from "../../../../src/core/telemetry/loopStalls.ts";

const QUIET: LoopWindow = { turns: [], collections: [], lagMs: 0, cpuMs: 900, isStarting: false };
const turn = (startMs: number, durationMs: number): LoopTurn => ({
  kind: "pod_worker",
  text: "pod worker default/web",
  startMs,
  durationMs,
});
const worker = (durationMs: number): LoopStall => ({
  kind: "pod_worker",
  stage: "pod worker default/web",
  durationMs,
  cpuMs: 900,
});
const collection = (durationMs: number, owner?: string): LoopStall => ({
  kind: "garbage_collection",
  stage: "garbage collection",
  durationMs,
  cpuMs: 900,
  ...(owner === undefined ? {} : { owner }),
});

it.each<[title: string, window: Partial<LoopWindow>, stalls: readonly LoopStall[]]>([
  ["nothing happened", {}, []],
  ["a turn just below the limit is not a stall", { turns: [turn(0, 49.9)], lagMs: 49 }, []],
  ["a turn at the limit is one", { turns: [turn(0, 50)] }, [worker(50)]],
  ["each long turn is one", { turns: [turn(0, 60), turn(100, 70)] }, [worker(60), worker(70)]],
  [
    "the owner of a turn is named",
    { turns: [{ ...turn(0, 60), kind: "runtime_answer", text: "ListContainers answer", owner: "housekeeping" }] },
    [{ kind: "runtime_answer", stage: "ListContainers answer", owner: "housekeeping", durationMs: 60, cpuMs: 900 }],
  ],
  [
    "a turn half of which the collector took is the collector's",
    { turns: [turn(0, 80)], collections: [{ startMs: 20, durationMs: 40 }] },
    [collection(80, "pod worker default/web")],
  ],
  [
    "several pauses of a turn count together, as far as they are within it",
    { turns: [turn(0, 80)], collections: [5, 40, 79].map((startMs) => ({ startMs, durationMs: 19 })) },
    [worker(80)],
  ],
  ["a long pause outside of any long turn", { collections: [{ startMs: 0, durationMs: 55 }] }, [collection(55)]],
  [
    "a pause of the collector just below the limit is not a stall",
    { collections: [{ startMs: 0, durationMs: 49.9 }] },
    [],
  ],
  ["a pause of the collector at the limit is one", { collections: [{ startMs: 0, durationMs: 50 }] }, [collection(50)]],
  [
    "a long pause that only touches a long turn is its own stall",
    { turns: [turn(0, 60)], collections: [{ startMs: 60, durationMs: 50 }] },
    [worker(60), collection(50)],
  ],
  [
    "a turn is its own stall when the collector took just below half of it",
    { turns: [turn(0, 80)], collections: [{ startMs: 20, durationMs: 39.9 }] },
    [worker(80)],
  ],
  ["a stall of half of the delay explains it", { turns: [turn(0, 60)], lagMs: 120 }, [worker(60)]],
  [
    "a delay at the limit is a stall",
    { lagMs: 50 },
    [{ kind: "unknown", stage: "unknown", durationMs: 50, cpuMs: 900, recent: [] }],
  ],
  [
    "a delay half of which the thread ran has an unknown stage",
    { lagMs: 300, cpuMs: 150 },
    [{ kind: "unknown", stage: "unknown", durationMs: 300, cpuMs: 150, recent: [] }],
  ],
  ["a stall explains the delay it makes", { turns: [turn(0, 100)], lagMs: 120 }, [worker(100)]],
  [
    "a delay that nothing explains is unknown, and names the longest turns around it",
    { turns: [10, 20, 30, 40].map((ms) => turn(ms * 10, ms)), lagMs: 200 },
    [
      {
        kind: "unknown",
        stage: "unknown",
        durationMs: 200,
        cpuMs: 900,
        recent: [40, 30, 20].map((ms) => `pod worker default/web ${ms} ms`),
      },
    ],
  ],
  [
    "a stall far shorter than the delay does not explain it",
    { turns: [turn(0, 60)], lagMs: 500 },
    [
      worker(60),
      { kind: "unknown", stage: "unknown", durationMs: 500, cpuMs: 900, recent: ["pod worker default/web 60 ms"] },
    ],
  ],
  [
    "a delay without CPU time of the thread has no stage",
    { lagMs: 300, cpuMs: 149 },
    [{ kind: "not_running", stage: "not running", durationMs: 300, cpuMs: 149, recent: [] }],
  ],
  [
    "a delay while the process loads its modules is the start's",
    { lagMs: 300, isStarting: true },
    [{ kind: "start", stage: "start", durationMs: 300, cpuMs: 900, recent: [] }],
  ],
])("%s", (_, window, stalls) => {
  expect(stallsOf({ ...QUIET, ...window })).toEqual(stalls);
});
