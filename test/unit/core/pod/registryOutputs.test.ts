import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistryTypes.ts";
import { RegistryOutputs } from "../../../../src/core/pod/registryOutputs.ts";

/** Commands with what the outputs look at; the rest does not matter to them. */
const command = (uid: string, phase: PodCommand["phase"], more: object = {}) =>
  ({ phase, identity: { uid: podUid(uid), name: uid, namespace: "demo" }, ...more }) as PodCommand & { phase: "sync" };
const sync = (uid: string, more: object = {}) => command(uid, "sync", more);

const after = (...steps: readonly ReturnType<typeof sync>[]) => {
  const outputs = new RegistryOutputs();
  for (const step of steps) {
    if (step.phase === "sync") outputs.sync(step);
    else outputs.commands.push(step);
  }
  return outputs.commands;
};

describe("sync commands of one step", () => {
  it.each([
    ["one pod each", [sync("a"), sync("b")], [sync("a"), sync("b")]],
    [
      "the newest of a pod, after the others",
      [sync("a", { step: 1 }), sync("b"), sync("c"), sync("a", { step: 2 })],
      [sync("b"), sync("c"), sync("a", { step: 2 })],
    ],
    [
      "beside other commands for the pod",
      [command("a", "terminating"), sync("a"), sync("a", { step: 2 })],
      [command("a", "terminating"), sync("a", { step: 2 })],
    ],
    [
      "with the restored size of the one it replaces",
      [sync("a", { restoredSize: 1 }), sync("b", { restoredSize: 7 }), sync("a", { step: 2 })],
      [sync("b", { restoredSize: 7 }), sync("a", { step: 2, restoredSize: 1 })],
    ],
    [
      "with its own restored size if it has one",
      [sync("a", { restoredSize: 1 }), sync("a", { restoredSize: 2 })],
      [sync("a", { restoredSize: 2 })],
    ],
  ])("are %s", (_, steps, expected) => {
    expect(after(...steps)).toEqual(expected);
  });
});
