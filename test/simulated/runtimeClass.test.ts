/** RuntimeClasses on a simulated node: which handler runs a pod, and what becomes of it when there is none. */
import { describe, expect, it } from "vitest";
import type { RuntimeHandlerState } from "../../src/core/runtime/runtimeState.ts";
import { NEW_IMAGE, podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { manifestOf } from "../support/simWorkload.ts";

const handler = (name: string, can: boolean): RuntimeHandlerState => ({
  name,
  recursiveReadOnlyMounts: can,
  userNamespaces: can,
});
const handlers = [handler("", true), handler("runsc", false)];
const classOf = (name: string, runtimeHandler: string) =>
  [name, { metadata: { name }, handler: runtimeHandler }] as const;
const runtimeClasses = new Map([classOf("sandboxed", "runsc"), classOf("absent", "kata")]);
const mount = { name: "data", mountPath: "/m", readOnly: true, recursiveReadOnly: "IfPossible" };
const podWith = (runtimeClassName: string, more = {}) =>
  podOf({
    name: "one",
    uid: "one",
    spec: {
      runtimeClassName,
      containers: [containerOf({ volumeMounts: [mount] })],
      volumes: [{ name: "data", emptyDir: {} }],
      ...more,
    },
  });

describe("the RuntimeClass of a pod", () => {
  it.each([
    ["sandboxed", "runsc", false, "Disabled"],
    ["", "", true, "Enabled"],
  ])("%j is run by the handler %j, within what that can do", (name, runtimeHandler, isRecursive, shown) => {
    const { node, check } = podNode({ handlers, runtimeClasses, pods: [podWith(name)] });
    expect(node.runUntil(() => node.running().length === 1, 60_000)).toBe(true);
    node.runFor(1_000);
    expect([
      node.runtime.sandboxes().map((sandbox) => sandbox.runtimeHandler),
      node.runtime.containers()[0]?.config.mounts[0]?.recursiveReadOnly,
      node.pods()[0]?.status?.containerStatuses?.[0]?.volumeMounts,
    ]).toEqual([
      [runtimeHandler],
      isRecursive,
      [{ name: "data", mountPath: "/m", readOnly: true, recursiveReadOnly: shown }],
    ]);
    check();
  });

  it.each([
    ["unheard-of", {}, 'runtimeclass.node.k8s.io "unheard-of" not found'],
    ["absent", {}, 'failed to get sandbox runtime: no runtime for "kata" is configured'],
    [
      "sandboxed",
      { hostUsers: false },
      'can\'t set `spec.hostUsers: false`, RuntimeClass handler "runsc" does not support user namespaces',
    ],
  ])("%j with %j has the reason why it cannot run", (name, spec, why) => {
    const { node, check } = podNode({ handlers, runtimeClasses, pods: [podWith(name, spec)] });
    node.runFor(30_000);
    expect(node.running()).toEqual([]);
    expect(node.trace.lines.join("\n")).toContain(`Failed to create pod sandbox: ${why}`);
    check();
  });
});

describe("a RuntimeClass that is a manifest", () => {
  const manifest = manifestOf("boxed", {
    dnsPolicy: "Default",
    runtimeClassName: "sandboxed",
    containers: [{ name: "app", image: NEW_IMAGE, resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } }],
  });
  const sandboxed = {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: { name: "sandboxed" },
    handler: "runsc",
    overhead: { podFixed: { cpu: "250m", memory: "64Mi" } },
  };

  it("gives a pod its handler and overhead, within milliseconds where the pod waited for it", () => {
    const { node, check } = podNode({ handlers, config: { sources: ["file"] }, manifests: { "pod.yaml": manifest } });
    node.runFor(60_000);
    expect(node.running()).toEqual([]);
    expect(node.trace.lines.join("\n")).toContain('runtimeclass.node.k8s.io "sandboxed" not found');
    const arrivedAt = node.clock.monotonicMs();
    node.putManifest("class.yaml", sandboxed);
    expect(node.runUntil(() => node.running().length === 1, 60_000)).toBe(true);
    expect(node.clock.monotonicMs() - arrivedAt).toBeLessThan(50);
    expect([
      node.runtime.sandboxes().map(({ runtimeHandler, config }) => [runtimeHandler, config.linux?.overhead?.cpuShares]),
      node.pods()[0]?.spec.overhead,
    ]).toEqual([[["runsc", 256n]], { cpu: "250m", memory: "64Mi" }]);
    check();
  });

  it("may go: the pod runs on as it is", () => {
    const manifests = { "pod.yaml": manifest, "class.yaml": sandboxed };
    const { node, count, check } = podNode({ handlers, config: { sources: ["file"] }, manifests });
    expect(node.runUntil(() => node.running().length === 1, 60_000)).toBe(true);
    node.dropManifest("class.yaml");
    node.runFor(60_000);
    expect([node.running().length, node.pods()[0]?.spec.overhead?.["cpu"], count("RunPodSandbox")]).toEqual([
      1,
      "250m",
      1,
    ]);
    check();
  });
});
