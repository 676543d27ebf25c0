/** RuntimeClasses on a simulated node: which handler runs a pod, and what becomes of it when there is none. */
import { describe, expect, it } from "vitest";
import type { RuntimeHandlerState } from "../../src/core/runtime/runtimeState.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

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
  ])("%j with %j is told why it cannot run", (name, spec, why) => {
    const { node, check } = podNode({ handlers, runtimeClasses, pods: [podWith(name, spec)] });
    node.runFor(30_000);
    expect(node.running()).toEqual([]);
    expect(node.trace.lines.join("\n")).toContain(`Failed to create pod sandbox: ${why}`);
    check();
  });
});
