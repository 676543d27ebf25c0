/** The memories of the pod writer: an object that was not found, and names that neither side has any more. */
import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/core/api/apiPodObjects.ts";
import type { Registry } from "../../../../src/core/pod/podRegistryTypes.ts";
import { createPodWriterMemories } from "../../../../src/pipelines/cluster/podWriterMemory.ts";
import { podWriteRequest } from "../../../../src/pipelines/cluster/podWriteRequest.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const NAME = "demo/web";
const objectOf = (resourceVersion: string): ApiPod => ({
  metadata: { namespace: "demo", name: "web", uid: "u-1", resourceVersion },
});

function world() {
  const state = createNodeState();
  let now = 0;
  const clock = { monotonicMs: () => now } as unknown as Clock;
  const memories = createPodWriterMemories(state, clock);
  const report = (version: string, ...objects: readonly ApiPod[]) =>
    state.apiPodObjects.set({ byName: new Map(objects.map((object) => [NAME, object])), version });
  const records = (...list: readonly unknown[]) =>
    state.registry.set({ ...state.registry.value, records: new Map(list.entries()) } as unknown as Registry);
  return { memories, clock, report, records, at: (ms: number) => void (now = ms) };
}

describe("an object that a request did not find", () => {
  const missed = () => {
    const all = world();
    all.report("7", objectOf("7"));
    all.memories.of(NAME).gone = { uid: "u-1", missed: { version: "7", untilMs: 10_000 } };
    return all;
  };
  const isKnown = ({ memories }: ReturnType<typeof world>) => memories.view(NAME).object !== undefined;

  it("has gone for 10 s while the reflector has the same version", () => {
    const all = missed();
    expect([isKnown(all), all.memories.hiddenForMs(NAME)]).toEqual([false, 10_000]);
    all.at(9_999);
    expect([isKnown(all), all.memories.hiddenForMs(NAME)]).toEqual([false, 1]);
    all.at(10_000);
    expect([isKnown(all), all.memories.hiddenForMs(NAME)]).toEqual([true, undefined]);
  });

  it("is there again with a newer version, and not with an older one", () => {
    const all = missed();
    all.report("8", objectOf("6"));
    expect(isKnown(all)).toBe(false);
    all.report("9", objectOf("8"));
    expect([isKnown(all), all.memories.hiddenForMs(NAME)]).toEqual([true, undefined]);
  });

  it("has gone for good when the server removed it", () => {
    const all = missed();
    all.memories.of(NAME).gone = { uid: "u-1" };
    all.report("9", objectOf("8"));
    all.at(100_000);
    expect([isKnown(all), all.memories.hiddenForMs(NAME)]).toEqual([false, undefined]);
  });

  it("is looked at again after that time", () => {
    const { memories, clock } = missed();
    const outcomes: unknown[] = [];
    const deps = { clock, telemetry: recordingTelemetry() } as unknown as Parameters<typeof podWriteRequest>[2];
    podWriteRequest(NAME, memories, deps).subscribe((outcome) => void outcomes.push(outcome));
    expect(outcomes).toEqual([{ kind: "later", afterMs: 10_000 }]);
  });
});

describe("the memory of a name", () => {
  it("goes with a request that finds neither object nor record", () => {
    const { memories, clock } = world();
    const memory = memories.of(NAME);
    const deps = { clock, telemetry: recordingTelemetry() } as unknown as Parameters<typeof podWriteRequest>[2];
    podWriteRequest(NAME, memories, deps).subscribe();
    expect(memories.of(NAME)).not.toBe(memory);
  });

  it("goes when the reflector reaches the version of an object that was removed", () => {
    const { memories, report } = world();
    report("7");
    memories.changedObjects();
    const memory = memories.of(NAME);
    Object.assign(memory, { gone: { uid: "u-1" }, answered: objectOf("9") });
    report("8");
    memories.changedObjects();
    const before = memories.of(NAME);
    report("10");
    memories.changedObjects();
    expect([before === memory, memories.of(NAME) === memory]).toEqual([true, false]);
  });

  it.each<[string, (all: ReturnType<typeof world>) => void]>([
    ["the reflector has its object", ({ report }) => report("7", objectOf("7"))],
    [
      "the reflector still has an object that was removed",
      ({ report, memories }) => {
        report("7", objectOf("7"));
        memories.of(NAME).gone = { uid: "u-1" };
      },
    ],
    [
      "the reflector has yet to reach the version of an object that was removed",
      ({ report, memories }) => {
        report("7");
        Object.assign(memories.of(NAME), { gone: { uid: "u-1" }, answered: objectOf("9") });
      },
    ],
    ["the outcome of a request is unknown", ({ memories }) => void (memories.of(NAME).isInDoubt = true)],
    [
      "the node has its pod",
      ({ records }) => records({ identity: { uid: "u-1", namespace: "demo", name: "web" }, state: "syncing" }),
    ],
  ])("stays while %s", (_case, prepare) => {
    const all = world();
    prepare(all);
    const memory = all.memories.of(NAME);
    all.memories.forgetGone(NAME);
    expect(all.memories.of(NAME)).toBe(memory);
  });
});
