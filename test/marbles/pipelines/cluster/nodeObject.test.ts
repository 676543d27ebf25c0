/** Events about schedulability that a node derives from its own object. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { nodeObject } from "../../../../src/pipelines/cluster/nodeObject.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles } from "../../../support/marbles.ts";

describe("nodeObject", () => {
  const open: Node = { metadata: { name: "n1" }, spec: {} };
  const cordoned: Node = { metadata: { name: "n1" }, spec: { unschedulable: true } };
  const event = (reason: string) => ({
    type: "Normal",
    reason,
    message: `Node n1 status is now: ${reason}`,
    object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
  });
  const events = { c: event("NodeNotSchedulable"), o: event("NodeSchedulable") };

  it.each([
    {
      rule: "emits nothing for a node that is schedulable from the start",
      node: "     -o-o|",
      expected: " ----|",
      isUnschedulable: undefined,
    },
    {
      rule: "emits an event for a node that is unschedulable from the start",
      node: "     -c-c|",
      expected: " -c--|",
      isUnschedulable: true,
    },
    {
      rule: "emits an event for each change",
      node: "     -o-c-o|",
      expected: " ---c-o|",
      isUnschedulable: undefined,
    },
    {
      rule: "treats a missing node as schedulable",
      node: "     -c-n-c|",
      expected: " -c-o-c|",
      isUnschedulable: true,
    },
  ])("$rule", ({ node, expected, isUnschedulable }) =>
    marbles(({ hot, expectObservable, flush }) => {
      const cell = createCell<Node | undefined>(undefined);
      const node$ = hot<Node | undefined>(node, { o: open, c: cordoned, n: undefined });
      expectObservable(nodeObject("n1", node$, cell)).toBe(expected, events);
      flush();
      expect(cell.value?.spec?.unschedulable).toBe(isUnschedulable);
    })(),
  );
});
