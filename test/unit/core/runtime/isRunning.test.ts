import { expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { isRunning } from "../../../../src/core/runtime/isRunning.ts";
import type { RuntimeContainerState } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { instance, runtime } from "../samples.ts";

it.each<[RuntimeContainerState, boolean]>([
  ["created", false],
  ["running", true],
  ["exited", false],
  ["unknown", true],
])("a pod without a ready sandbox whose container is %s runs: %s", (state, expected) => {
  const { sandboxes, ...pod } = runtime([{ ...instance("web"), state }]);
  const stopped = sandboxes.map((sandbox) => ({ ...sandbox, ready: false }));
  expect([isRunning({ ...pod, sandboxes: stopped }), isRunning({ ...pod, sandboxes: [] })]).toEqual([
    expected,
    expected,
  ]);
});

it("a ready sandbox alone runs, and a pod without anything does not", () => {
  const { sandboxes } = runtime([]);
  const pod = { podUid: podUid("u"), name: "web", namespace: "demo", containers: [], sequence: 1 };
  const ready = sandboxes.map((sandbox) => ({ ...sandbox, ready: true }));
  expect([isRunning({ ...pod, sandboxes: ready }), isRunning({ ...pod, sandboxes: [] })]).toEqual([true, false]);
});
