import { expect, it } from "vitest";
import { emptyRegistry } from "../../../src/core/pod/podRegistry.ts";
import { createNodeState, type NodeView } from "../../../src/state/nodeState.ts";

/** Compiles only as long as no reader of the node's state can write to it. */
export function writeAsReader(view: NodeView): void {
  // @ts-expect-error: only the writer of a cell has `set`.
  view.registry.set(emptyRegistry);
  // @ts-expect-error: only the writer of a keyed cell has `delete`.
  view.podStatuses.delete("uid");
}

it("the state of a node is its view, cell by cell", () => {
  const state = createNodeState();
  const view: NodeView = state;
  state.registry.set({ ...emptyRegistry, isSettled: true });
  expect(view.registry.value.isSettled).toBe(true);
});
