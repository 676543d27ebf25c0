/** A pod with a claim on a real node: a driver of our own registers, prepares, survives a killed kubelet, and unprepares. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { decodeClaims } from "../../src/core/dra/claimsFile.ts";
import { valueOf } from "../../src/core/result.ts";
import {
  type Claim,
  DRAPluginDefinition,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
} from "../../src/gen/dra.ts";
import { RegistrationDefinition } from "../../src/gen/pluginRegistration.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { type GrpcServer, startGrpcServer } from "../support/grpcServer.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server } from "./manifests.ts";

const DRIVER = "gpu.example.com";
const ref = { namespace: "default", name: "gpu-1" };

type Reply = (failure: null, value: unknown) => void;
interface Asked {
  readonly request: { readonly claims: readonly Claim[] };
}

/** A driver below a root directory; `calls` has what it was asked for. */
async function startDriver(rootDir: string) {
  const calls: string[] = [];
  const endpoint = join(rootDir, "plugins", "gpu.sock");
  await mkdir(join(rootDir, "plugins"), { recursive: true });
  await mkdir(join(rootDir, "plugins_registry"), { recursive: true });
  const info = { type: "DRAPlugin", name: DRIVER, endpoint, supportedVersions: ["v1.DRAPlugin"] };
  const servers: readonly GrpcServer[] = [
    await startGrpcServer(endpoint, DRAPluginDefinition, {
      nodePrepareResources: ({ request: { claims } }: Asked, reply: Reply) => {
        calls.push(...claims.map(({ name }) => `prepare ${name}`));
        const devices = [{ poolName: "node", deviceName: "gpu-0", requestNames: ["r"], cdiDeviceIds: [] }];
        const prepared = Object.fromEntries(claims.map(({ uid }) => [uid, { devices, error: "" }]));
        reply(null, NodePrepareResourcesResponse.fromPartial({ claims: prepared }));
      },
      nodeUnprepareResources: ({ request: { claims } }: Asked, reply: Reply) => {
        calls.push(...claims.map(({ name }) => `unprepare ${name}`));
        const gone = Object.fromEntries(claims.map(({ uid }) => [uid, { error: "" }]));
        reply(null, NodeUnprepareResourcesResponse.fromPartial({ claims: gone }));
      },
    } as Parameters<typeof startGrpcServer>[2]),
    await startGrpcServer(join(rootDir, "plugins_registry", "gpu-reg.sock"), RegistrationDefinition, {
      getInfo: (_: unknown, reply: Reply) => reply(null, info),
      notifyRegistrationStatus: (_: unknown, reply: Reply) => reply(null, {}),
    }),
  ];
  return {
    calls,
    stop: () => {
      for (const each of servers) each.stop();
    },
  };
}

describeOnContainerd("a pod with a claim", (installation) => {
  const cluster = clusterNode(installation);

  it("starts once its driver is there, keeps its devices when the kubelet is killed, and gives them back at its end", async () => {
    const { node, server: api } = cluster;
    const rootDir = join(node.folder, "kubelet");
    const container = server("main", ":", { resources: { claims: [{ name: "gpu" }] } });
    cluster.bind("web", {
      containers: [container],
      resourceClaims: [{ name: "gpu", resourceClaimName: ref.name }],
    });
    api.sim.put("resourceclaims", { metadata: ref, spec: {} });
    const { uid } = (cluster.reported("web") as Pod).metadata;
    const results = [{ driver: DRIVER, pool: "node", device: "gpu-0", request: "r" }];
    const status = { allocation: { devices: { results } }, reservedFor: [{ resource: "pods", name: "web", uid }] };
    const made = api.sim.object("resourceclaims", ref) ?? { spec: {} };
    api.sim
      .client()
      .update("resourceclaims", { ...made, status }, { subresource: "status" })
      .subscribe();

    const isWaiting = (pod: Pod): boolean =>
      pod.status?.containerStatuses?.[0]?.state?.waiting?.message?.endsWith(
        `DRA driver ${DRIVER} is not registered`,
      ) === true;
    await cluster.untilTold("web", isWaiting, "waiting for its driver");
    const driver = await startDriver(rootDir);
    try {
      await cluster.untilTold("web", isReady, "Ready");
      const resource = { resourceID: `${DRIVER}/node/gpu-0`, health: "Unknown" };
      expect(cluster.reported("web")?.status?.containerStatuses?.[0]?.allocatedResourcesStatus).toEqual([
        { name: "claim:gpu", resources: [resource] },
      ]);
      await node.daemon.kill();
      const kept = valueOf(decodeClaims(await readFile(join(rootDir, "dra_manager_state"), "utf8")));
      expect([...(kept.get("default/gpu-1")?.podUids ?? [])]).toEqual([uid]);
      await node.daemon.restart();
      expect(driver.calls).toEqual(["prepare gpu-1"]);
      api.sim.delete("pods", { namespace: "default", name: "web" }, { gracePeriodSeconds: 1 });
      await cluster.untilGone("web");
      expect(driver.calls).toEqual(["prepare gpu-1", "unprepare gpu-1"]);
    } finally {
      driver.stop();
    }
  });
});
