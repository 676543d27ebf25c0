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

  it.each<[rule: string, node: string, reported: string]>([
    ["says nothing of a node that is and stays schedulable", "-o-o|", "----|"],
    ["tells that a node is found unschedulable", "-c-c|", "-c--|"],
    ["tells each change", "-o-c-o|", "---c-o|"],
    ["takes a node that is gone for one that is not unschedulable", "-c-n-c|", "-c-o-c|"],
  ])("%s", (_, node, reported) =>
    marbles(({ hot, expectObservable, flush }) => {
      const cell = createCell<Node | undefined>(undefined);
      const node$ = hot<Node | undefined>(node, { o: open, c: cordoned, n: undefined });
      expectObservable(nodeObject("n1", node$, cell)).toBe(reported, events);
      flush();
      expect(cell.value?.spec?.unschedulable).toBe(node.endsWith("c|") ? true : undefined);
    })(),
  );
});
