/** The Node that volumes wait for: made once per change, however many volumes ask. */
import { expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { confirmedNodes } from "../../../../src/pipelines/volumes/confirmedNodes.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";

const nodeOf = (...volumesInUse: readonly string[]): Node => ({
  metadata: { name: "n1", uid: "n-1" },
  status: { volumesInUse: [...volumesInUse] },
});

it("is one object for all who ask between two changes", () => {
  const state = createNodeState();
  const confirmed = confirmedNodes(state);
  const seen: (Node | undefined)[][] = [[], []];
  for (const list of seen) confirmed.changes$.subscribe((node) => void list.push(node));
  state.node.set(nodeOf("a", "b"));
  state.reportedNode.set({ node: nodeOf("a", "b"), volumesInUse: ["a"] });
  expect(confirmed.value?.status?.volumesInUse).toEqual(["a"]);
  expect(confirmed.value).toBe(confirmed.value);
  expect(seen[0]?.at(-1)).toBe(confirmed.value);
  expect(seen[1]?.at(-1)).toBe(confirmed.value);
});

it("follows each change of the Node and of what was reported", () => {
  const state = createNodeState();
  const confirmed = confirmedNodes(state);
  expect(confirmed.value).toBe(undefined);
  state.node.set(nodeOf("a"));
  expect(confirmed.value?.status?.volumesInUse).toEqual([]);
  state.reportedNode.set({ node: nodeOf("a"), volumesInUse: ["a"] });
  expect(confirmed.value?.status?.volumesInUse).toEqual(["a"]);
  state.node.set(nodeOf("b"));
  expect(confirmed.value?.status?.volumesInUse).toEqual([]);
});
