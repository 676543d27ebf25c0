/** Pods of the API server that are configured from its ConfigMaps and Secrets. */
import { describe, expect, it } from "vitest";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const ref = (name: string) => ({ namespace: "default", name });
const container = containerOf({
  envFrom: [{ configMapRef: { name: "web" } }],
  env: [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } }],
});

function nodeWithPod(options: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const node = createSimNode({
    seed: "objects",
    scheduler,
    api: server,
    images: [simImage("registry.example/app:1")],
    programs: () => runsForever,
    latency: () => 2,
    ...options,
  });
  server.put("pods", newPod("web", { containers: [container] }));
  server.schedule(ref("web"), node.config.nodeName);
  return {
    server,
    node,
    putConfigMap: (mode: string) => server.put("configmaps", { metadata: ref("web"), data: { MODE: mode } }),
    putSecret: (password: string) =>
      server.put("secrets", { metadata: ref("login"), data: { password: Buffer.from(password).toString("base64") } }),
    waiting: () => node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting,
    environments: () =>
      node.runtime
        .containers()
        .map(({ config }) =>
          Object.fromEntries(config.envs.map(({ key, value }) => [key, new TextDecoder().decode(value)])),
        ),
  };
}

const refused = (message: string) => ({ reason: "CreateContainerConfigError", message });

describe("a pod of the API server, configured from its objects", () => {
  it("waits for each, says for which, and starts within milliseconds of the last one's arrival", () => {
    const { node, putConfigMap, putSecret, waiting, environments } = nodeWithPod();
    node.runFor(MINUTE_MS);
    expect(waiting()).toEqual(refused('configmap "web" not found'));
    putConfigMap("fast");
    node.runFor(100);
    expect(waiting()).toEqual(refused('secret "login" not found'));
    putSecret("correct horse");
    node.runFor(100);
    expect([environments(), node.running(), node.violations]).toEqual([
      [{ MODE: "fast", PASSWORD: "correct horse" }],
      ["default/web/main#0"],
      [],
    ]);
  });

  it("starts its containers again from what the objects are by then", () => {
    const { node, putConfigMap, putSecret, environments } = nodeWithPod();
    putConfigMap("slow");
    putSecret("one");
    node.runFor(MINUTE_MS);
    putConfigMap("fast");
    node.runFor(MINUTE_MS);
    const before = environments();
    node.kill("default/web/main");
    node.runFor(MINUTE_MS);
    expect([before, environments().at(-1)]).toEqual([
      [{ MODE: "slow", PASSWORD: "one" }],
      { MODE: "fast", PASSWORD: "one" },
    ]);
  });

  it("says that an object did not come in time while the server is away, and starts when it is back", () => {
    const { node, server, putConfigMap, putSecret, waiting } = nodeWithPod();
    putConfigMap("fast");
    putSecret("one");
    node.runUntil(() => node.pods().length === 1, MINUTE_MS);
    server.setNetwork("silent");
    node.runFor(5_000);
    expect(waiting()).toEqual(refused("failed to sync configmap cache: timed out waiting for the condition"));
    server.setNetwork("up");
    node.runFor(5 * MINUTE_MS);
    expect(node.running()).toEqual(["default/web/main#0"]);
  });

  it("reads nothing of the manifests of the node", () => {
    const { node, waiting } = nodeWithPod();
    const metadata = ref("web");
    node.putManifest("web.yaml", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { MODE: "stolen" } });
    node.runFor(MINUTE_MS);
    expect(waiting()).toEqual(refused('configmap "web" not found'));
  });

  it("is followed until it is removed, by one watch per object", () => {
    const { node, server, putConfigMap, putSecret } = nodeWithPod();
    putConfigMap("fast");
    putSecret("one");
    node.runFor(MINUTE_MS);
    const followed = server.watchCount;
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    node.runFor(2 * MINUTE_MS);
    // Beside those of the node itself: its pods, its Node, services and RuntimeClasses.
    expect([followed, server.watchCount]).toEqual([6, 4]);
  });

  it.each([
    ["0", "fast"],
    ["3600", "slow"],
  ])("is good for as long as the node says: %s s, its next container is %s", (ttl, mode) => {
    const { node, server, putConfigMap, putSecret, environments } = nodeWithPod({ objectStrategy: "Cache" });
    const annotations = { "node.alpha.kubernetes.io/ttl": ttl };
    server.put("nodes", { metadata: { name: node.config.nodeName, annotations } });
    putConfigMap("slow");
    putSecret("one");
    node.runFor(MINUTE_MS);
    putConfigMap("fast");
    node.runFor(2 * MINUTE_MS);
    node.kill("default/web/main");
    node.runFor(MINUTE_MS);
    expect(environments().at(-1)).toEqual({ MODE: mode, PASSWORD: "one" });
  });

  it.each(["Cache", "Get"])("starts with the strategy %s, without a watch of its own", (objectStrategy) => {
    const { node, server, putConfigMap, putSecret, environments } = nodeWithPod({ objectStrategy });
    putConfigMap("fast");
    node.runFor(30_000);
    putSecret("one");
    node.runFor(MINUTE_MS);
    expect([environments(), server.watchCount]).toEqual([[{ MODE: "fast", PASSWORD: "one" }], 4]);
  });
});
