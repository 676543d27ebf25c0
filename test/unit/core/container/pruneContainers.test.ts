import { describe, expect, it } from "vitest";
import { planPrune } from "../../../../src/core/container/pruneContainers.ts";
import { containerId, sandboxId } from "../../../../src/core/ids.ts";
import type { RuntimeContainer, RuntimeSandbox } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { exited, instance, runtime, sandbox } from "../samples.ts";

const dead = (name: string, restartCount: number, more: Partial<RuntimeContainer> = {}) =>
  exited(name, 1, { id: containerId(`${name}-${restartCount}`), restartCount, ...more });
const inSandbox = (id: string) => ({ sandboxId: sandboxId(id) });
const old = (id: string, more: Partial<RuntimeSandbox> = {}) => sandbox({ id: sandboxId(id), ready: false, ...more });

/** Ids of what may go, newest first as in the status. */
const pruned = (containers: readonly RuntimeContainer[], sandboxes?: readonly RuntimeSandbox[], most = 1) => {
  const plan = planPrune(runtime(containers, sandboxes), most);
  return [plan.containers.map(({ id }) => id), plan.sandboxes.map(({ id }) => id)];
};

describe("planPrune", () => {
  const table: readonly (readonly [string, readonly RuntimeContainer[], readonly string[]])[] = [
    ["nothing of a pod without containers", [], []],
    ["nothing of a container that runs for the first time", [instance("web")], []],
    ["not the attempt before the running one", [instance("web", { restartCount: 1 }), dead("web", 0)], []],
    [
      "all but one dead attempt in addition to the running one",
      [instance("web", { restartCount: 3 }), dead("web", 2), dead("web", 1), dead("web", 0)],
      ["web-1", "web-0"],
    ],
    ["all but two of a container that is dead", [dead("web", 2), dead("web", 1), dead("web", 0)], ["web-0"]],
    [
      "each container for itself",
      [dead("web", 2), dead("log", 1), dead("web", 1), dead("log", 0), dead("web", 0)],
      ["web-0"],
    ],
    [
      "no container that may be running",
      [instance("web", { restartCount: 2 }), dead("web", 1), instance("web", { restartCount: 0, state: "unknown" })],
      [],
    ],
    [
      "older attempts that never ran, and keeps the one shown in lastState",
      [
        instance("web", { restartCount: 3, state: "created", id: containerId("web-3") }),
        instance("web", { restartCount: 2, state: "created", id: containerId("web-2") }),
        dead("web", 1),
        dead("web", 0),
      ],
      ["web-2", "web-0"],
    ],
  ];
  it.each(table)("removes %s", (_what, containers, expected) => {
    expect(pruned(containers)).toEqual([expected, []]);
  });

  it.each([
    [-1, ["web-2", "web-1", "web-0"]],
    [0, ["web-2", "web-1", "web-0"]],
    [3, ["web-0"]],
    [4, []],
  ])("keeps as many dead attempts as garbage collection, but at least one: %s", (most, expected) => {
    const containers = [instance("web", { restartCount: 4 }), ...[3, 2, 1, 0].map((count) => dead("web", count))];
    expect(pruned(containers, [], most)).toEqual([expected, []]);
  });

  it("removes stopped older sandboxes without kept containers", () => {
    const containers = [
      instance("web", { restartCount: 3, ...inSandbox("new") }),
      dead("web", 2, inSandbox("older")),
      dead("web", 1, inSandbox("oldest")),
    ];
    const sandboxes = [sandbox({ id: sandboxId("new") }), old("older"), old("oldest"), old("unused")];
    expect(pruned(containers, sandboxes)).toEqual([["web-1"], ["oldest", "unused"]]);
  });

  it("never removes the newest sandbox or a ready one", () => {
    expect(pruned([], [old("newest")])).toEqual([[], []]);
    expect(pruned([], [sandbox({ id: sandboxId("new") }), old("other", { ready: true })])).toEqual([[], []]);
  });
});
