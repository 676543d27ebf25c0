import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import type { PodActions } from "../../../../src/core/pod/podActionsTypes.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistry.ts";
import { emptyRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { runtimeDown, unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";
import { isIdle, isStillIdle, syncBasis } from "../../../../src/pipelines/podWorker/idleSync.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { noteFailure } from "../../../../src/pipelines/podFailures.ts";
import { createPodMemories, wakeBy } from "../../../../src/pipelines/podMemories.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { podOf } from "../../../support/pods.ts";

/** A pod whose last sync found nothing to do. */
function idlePod() {
  const commandOf = () => ({ phase: "sync", pod: podOf() }) as unknown as PodCommand;
  const world = { command: commandOf(), runtime: emptyRuntimeStatus(podUid("uid-1"), "plain", "demo", 0) };
  const memory = createPodMemories(monotonicMs(0));
  const runtimeState = createCell(unknownRuntimeState);
  const context = {
    memory,
    state: { runtimeState, runtimeClasses: createCell(new Map()) },
    runtimeStatus: () => world.runtime,
  } as unknown as PodContext;
  memory.rounds.done = { essential: "nothing", left: undefined, againAt: monotonicMs(0), under: unknownRuntimeState };
  memory.rounds.idleBasis = syncBasis(context, world.command);
  return { world, memory, runtimeState, commandOf, isIdleNow: () => isStillIdle(context, world.command) };
}

type IdlePod = ReturnType<typeof idlePod>;

const NEWS: Readonly<Record<string, (pod: IdlePod) => void>> = {
  "another command": ({ world, commandOf }) => void (world.command = commandOf()),
  "another inspection": ({ world }) => void (world.runtime = emptyRuntimeStatus(podUid("uid-1"), "plain", "demo", 0)),
  "an effect that was not seen yet": ({ memory }) => void (memory.effects.requiredSequence = 1),
  "another verdict of a probe": ({ memory }) => memory.probing.verdicts.set(new Map()),
  "other objects": ({ memory }) => memory.objects.set({ ...memory.objects.value }),
  "backoffs that were reset": ({ memory }) => void (memory.crashLoop.backoffs = new Map()),
  "another size in force": ({ memory }) => void (memory.allocation.sizes = { ...memory.allocation.sizes }),
  "a resize": ({ memory }) => memory.allocation.resizing.set({ generation: 2 }),
  "another allocation": ({ memory }) => void (memory.allocation.allocated = podOf()),
  "an allocation that was written": ({ memory }) => void (memory.allocation.checkpoint = "{}"),
  "sizes to be asked for": ({ memory }) => void (memory.allocation.reportAwaited = true),
  "another state of the runtime": ({ runtimeState }) =>
    runtimeState.set(runtimeDown(unknownRuntimeState, "down", monotonicMs(1))),
  "a time to try again": ({ memory }) => wakeBy(memory.rounds, monotonicMs(1)),
  "a wish to try again at once": ({ memory }) => void (memory.rounds.done = undefined),
  "a sync that found something to do": ({ memory }) => void (memory.rounds.idleBasis = undefined),
};

describe("isStillIdle", () => {
  it("holds while a sync would decide from the very same objects", () => {
    const { memory, isIdleNow } = idlePod();
    noteFailure(memory, "main", kubeletError("Unknown", "told, but nothing is decided from it"));
    expect(isIdleNow()).toBe(true);
  });

  it.each(Object.entries(NEWS))("ends with %s", (_news, happen) => {
    const pod = idlePod();
    happen(pod);
    expect(pod.isIdleNow()).toBe(false);
  });
});

describe("isIdle", () => {
  const none: PodActions = {
    killPod: false,
    createSandbox: false,
    waits: [],
    containersToKill: [],
    containersToReset: [],
    initContainersToStart: [],
    ephemeralContainersToStart: [],
    containersToStart: [],
  } as unknown as PodActions;
  const lists = Object.entries(none).filter(([, value]) => Array.isArray(value));

  it("is a plan without any step", () => expect(isIdle(none)).toBe(true));

  it.each(lists)("is none with an item in %s", (name) => expect(isIdle({ ...none, [name]: [{}] })).toBe(false));

  it.each(["killPod", "createSandbox"])("is none with %s", (name) =>
    expect(isIdle({ ...none, [name]: true })).toBe(false),
  );
});
