/** How long pods wait for volumes, as metrics tell it. */
import { expect, it } from "vitest";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { manifestOf } from "../support/simWorkload.ts";

const APP = "registry.example/app:1";
const pod = manifestOf("web", {
  dnsPolicy: "Default",
  volumes: [{ name: "settings", configMap: { name: "web" } }],
  containers: [{ name: "app", image: APP, volumeMounts: [{ name: "settings", mountPath: "/settings" }] }],
});
const configMap = (mode: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web", namespace: "demo" },
  data: { mode },
});

it("counts a pod's whole wait for a volume, failures included, and each change of content as a new wait", () => {
  const manifests = { "pod.yaml": pod };
  const node = createSimNode({ seed: "wait", images: [simImage(APP)], programs: () => runsForever, manifests });
  const labels = { plugin_name: "kubernetes.io/configmap", operation_name: "overall_volume_mount" };
  const waits = () => [
    node.telemetry.value("volume_operation_total_seconds", labels),
    Math.round(node.telemetry.sum("volume_operation_total_seconds", labels)),
  ];
  node.runFor(40_000);
  expect(waits()).toEqual([0, 0]);
  node.putManifest("config.yaml", configMap("old"));
  node.runFor(20_000);
  expect(waits()).toEqual([1, 40]);
  node.putManifest("config.yaml", configMap("new"));
  node.runFor(20_000);
  expect(waits()).toEqual([2, 40]);
  const tried = { volume_plugin: labels.plugin_name, operation_name: "volume_mount", migrated: "false" };
  expect(node.telemetry.value("storage_operation_duration_seconds", { ...tried, status: "success" })).toBe(2);
});
