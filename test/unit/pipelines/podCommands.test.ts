import { expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import { RETRY_AT } from "../../../src/core/pod/crashLoopSteering.ts";
import type { PodUpdate } from "../../../src/core/pod/podUpdate.ts";
import { podCommands } from "../../../src/pipelines/podCommands.ts";
import { createCell } from "../../../src/state/cell.ts";
import { registryNode, reported, sizedPod } from "../../support/registryNode.ts";

it("a retry is an update of the pod, with the time of the request", () => {
  const [a, b] = [sizedPod("a", "1"), sizedPod("b", "1")];
  const annotated = { ...b, metadata: { ...b.metadata, annotations: { note: "kept" } } };
  const node = registryNode().send(reported("ADD", a), reported("ADD", annotated));
  const sent: PodUpdate[] = [];
  const clock = { wallTime: () => epochMs(Date.UTC(2026, 0, 2, 3, 4, 5)) };
  const { retry } = podCommands(createCell(node.registry), clock, (update) => void sent.push(update));
  expect([retry("demo", "b"), retry("demo", "none"), retry("other", "b")]).toEqual([true, false, false]);
  const annotations = { note: "kept", [RETRY_AT]: "2026-01-02T03:04:05Z" };
  expect(sent).toEqual([
    { op: "UPDATE", source: "api", pods: [{ ...annotated, metadata: { ...annotated.metadata, annotations } }] },
  ]);
});
