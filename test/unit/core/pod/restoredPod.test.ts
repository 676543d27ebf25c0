import { expect, it } from "vitest";
import { containerAnnotations } from "../../../../src/core/container/labels.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { restoredPod } from "../../../../src/core/pod/restoredPod.ts";
import { container, exited, instance, pod, runtime } from "../samples.ts";

const IDENTITY = { uid: podUid("uid"), name: "web", namespace: "default" };

it("names each container once, with the hook and ports in its annotations", () => {
  const preStop = { httpGet: { path: "/bye", port: "admin" } };
  const ports = [{ name: "admin", containerPort: 8080 }];
  const spec = container("web", { ports, lifecycle: { preStop } });
  const annotations = containerAnnotations(pod(), spec, 1);
  const known = runtime([instance("web", { restartCount: 1, annotations }), exited("web", 1), instance("plain")]);
  expect(restoredPod(IDENTITY, known)).toEqual({
    metadata: IDENTITY,
    spec: {
      containers: [
        { name: "web", ports, lifecycle: { preStop } },
        { name: "plain", ports: [] },
      ],
    },
  });
});
