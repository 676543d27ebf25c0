import { expect, it } from "vitest";
import { resizePendingEvent, resizeStartedEvent } from "../../../../src/core/allocation/resizeMessages.ts";
import { container, pod } from "../samples.ts";

const metadata = { name: "web", namespace: "default", uid: "uid" };
const resources = { requests: { memory: "1Gi", cpu: "1" }, limits: { memory: "2Gi" } };

it("the event of a resize has the sizes of all containers and the generation, 0 without one", () => {
  const spec = { initContainers: [container("i")], containers: [container("web", { resources })] };
  const sizes =
    '{"initContainers":[{"name":"i","resources":{}}],"containers":[{"name":"web",' +
    '"resources":{"limits":{"memory":"2Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}],';
  const numbered = { ...metadata, generation: 7 };
  expect(resizeStartedEvent(pod(spec, { metadata })).message).toBe(`Pod resize started: ${sizes}"generation":0}`);
  expect(resizePendingEvent(pod(spec, { metadata: numbered }), "Deferred", "full").message).toBe(
    `Pod resize Deferred: ${sizes}"generation":7,"error":"full"}`,
  );
});
