/** Pods that are configured from ConfigMaps and Secrets, which come, go and change as manifests. */
import { describe, expect, it } from "vitest";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { SIM_MANIFESTS } from "../../src/sim/podSources/simPodSources.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { manifestOf } from "../support/simWorkload.ts";

const APP = "registry.example/app:1";
const PASSWORD = "correct horse";
const container = {
  name: "app",
  image: APP,
  envFrom: [{ configMapRef: { name: "web" } }],
  env: [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } }],
};
const pod = manifestOf("web", { dnsPolicy: "Default", containers: [container] });
const metadata = (name: string) => ({ name, namespace: "demo" });
const configMap = (mode: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: metadata("web"),
  data: { MODE: mode },
});
const secret = { apiVersion: "v1", kind: "Secret", metadata: metadata("login"), stringData: { password: PASSWORD } };

const nodeWith = (manifests: Readonly<Record<string, object>>): SimNode =>
  createSimNode({ seed: "config", images: [simImage(APP)], programs: () => runsForever, latency: () => 2, manifests });
const waiting = (node: SimNode) => node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting;
const said = (node: SimNode, message: string) => node.telemetry.lines.filter((line) => line.message === message);
const environmentOf = (node: SimNode) =>
  node.runtime
    .containers()
    .map(({ config }) =>
      Object.fromEntries(config.envs.map(({ key, value }) => [key, new TextDecoder().decode(value)])),
    );
const refused = (message: string) => ({ reason: "CreateContainerConfigError", message });

describe("a pod configured from a ConfigMap and a Secret", () => {
  it("waits for each and says for which, then starts within milliseconds of the last one's arrival", () => {
    const node = nodeWith({ "pod.yaml": pod });
    node.runFor(60_000);
    expect([waiting(node), node.running()]).toEqual([refused('configmap "web" not found'), []]);
    expect(node.trace.lines.join("\n")).toContain('Failed: Error: configmap "web" not found');
    node.putManifest("config.yaml", configMap("fast"));
    node.runFor(100);
    expect(waiting(node)).toEqual(refused('secret "login" not found'));
    const arrivedAt = node.clock.monotonicMs();
    node.putManifest("login.yaml", secret);
    expect(node.runUntil(() => node.running().length === 1, 60_000)).toBe(true);
    expect(node.clock.monotonicMs() - arrivedAt).toBeLessThan(50);
    expect(environmentOf(node)).toEqual([{ MODE: "fast", PASSWORD }]);
    expect(node.violations).toEqual([]);
  });

  it("waits for a key until the Secret has it, and for nothing that does not concern it", () => {
    const node = nodeWith({
      "pod.yaml": pod,
      "config.yaml": configMap("fast"),
      "login.yaml": { ...secret, stringData: {} },
    });
    node.runFor(1_000);
    expect(waiting(node)).toEqual(refused("couldn't find key password in Secret demo/login"));
    const tries = (): number => said(node, "Container did not start").length;
    const before = tries();
    node.putManifest("other.yaml", { ...secret, metadata: metadata("other") });
    node.runFor(1_000);
    expect(tries()).toBe(before);
    node.putManifest("login.yaml", secret);
    expect(node.runUntil(() => node.running().length === 1, 50)).toBe(true);
  });

  it("keeps its running containers when they change or go; a restarted container sees the new content", () => {
    const node = nodeWith({ "pod.yaml": pod, "config.yaml": configMap("fast"), "login.yaml": secret });
    node.runFor(1_000);
    node.putManifest("config.yaml", configMap("slow"));
    node.runFor(60_000);
    expect(environmentOf(node)).toEqual([{ MODE: "fast", PASSWORD }]);
    node.kill("demo/web-sim-node/app");
    node.runFor(60_000);
    expect([node.running(), environmentOf(node).map(({ MODE }) => MODE)]).toEqual([
      ["demo/web-sim-node/app#1"],
      ["fast", "slow"],
    ]);
    node.dropManifest("config.yaml");
    node.runFor(60_000);
    expect(node.running()).toEqual(["demo/web-sim-node/app#1"]);
  });

  it("uses the first file of a duplicate name and logs the other, which takes over when the first is gone", () => {
    const node = nodeWith({
      "pod.yaml": pod,
      "a.yaml": configMap("first"),
      "b.yaml": configMap("second"),
      "login.yaml": secret,
    });
    node.runFor(1_000);
    expect(environmentOf(node).map(({ MODE }) => MODE)).toEqual(["first"]);
    expect(said(node, "Manifest problem").map(({ fields }) => `${fields["origin"]} ${fields["reason"]}`)).toEqual([
      `${SIM_MANIFESTS}/b.yaml ConfigMap demo/web is already defined in a.yaml:1, which is the one used`,
    ]);
    node.dropManifest("a.yaml");
    node.runFor(1_000);
    node.kill("demo/web-sim-node/app");
    node.runFor(60_000);
    expect(environmentOf(node).map(({ MODE }) => MODE)).toContain("second");
  });

  it("never shows the Secret's value: not in logs, trace, statuses, events or the pod's timeline", () => {
    const node = nodeWith({ "pod.yaml": pod, "config.yaml": configMap("fast"), "login.yaml": secret });
    node.runFor(1_000);
    node.putManifest("login.yaml", { ...secret, stringData: { password: PASSWORD, other: 1 } });
    node.kill("demo/web-sim-node/app");
    node.runFor(60_000);
    const reported = JSON.stringify([
      node.telemetry.lines,
      node.trace.lines,
      node.pods(),
      node.kubelet?.queries.timeline("demo", "web-sim-node"),
    ]);
    for (const text of [PASSWORD, btoa(PASSWORD)]) expect(reported).not.toContain(text);
    expect(reported).toContain("stringData[other]");
  });
});
