/** A whole kubelet in virtual time with a CSI driver that stages volumes, and an API server with claims of its volumes. */
import { of } from "rxjs";
import type { CsiDriver } from "../../src/core/volume/csiVolume.ts";
import type { CallOptions } from "../../src/ports/call.ts";
import type { CsiClient, CsiDriverPort } from "../../src/ports/csiDrivers.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";
import type { SimPluginFaults } from "../../src/sim/hardware/pluginCall.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { createSimStorage } from "../../src/sim/storage/simStorage.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { newPod } from "./simApi.ts";
import { containerOf } from "./pods.ts";

/** A driver of the simulation whose volumes need no attachment. */
export const SIM_DRIVER = "share.csi.example.com";
const NODE = "one";
const NAMESPACE = "default";

/** A call of the driver about a volume. */
export interface SimCsiCall {
  readonly rpc: "stage" | "publish" | "unpublish" | "unstage";
  readonly volume: string;
  readonly mountFlags: readonly string[];
}

export interface CsiSimNodeOptions {
  readonly config?: SimNodeOptions["config"];
  readonly machine?: SimNodeOptions["machine"];
  readonly spec?: CsiDriver["spec"];
  /** Answers of the driver, instead of those of the simulated one. */
  readonly answers?: Partial<CsiClient>;
  /** Decides about each call. Default: it is answered. */
  readonly faults?: SimPluginFaults;
}

/** Creates the node; no time has passed. */
export function csiSimNode({
  config,
  machine,
  spec,
  answers = {},
  faults = () => ({ kind: "answer" }),
}: CsiSimNodeOptions = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2 });
  const calls: SimCsiCall[] = [];
  const events: string[] = [];
  /** Whether the runtime labels the files of the volume, by pod. */
  const relabelled = new Map<string, boolean>();
  const storage = createSimStorage({
    ...{ clock, prng: createPrng("storage"), faults, see: (seen) => node.see(seen) },
    ...{ machine: () => node.host, bootId: () => node.host.machine.bootId },
  });
  const note = (rpc: SimCsiCall["rpc"], request: { volumeId?: string; volumeCapability?: unknown }): void => {
    const { mount } = (request.volumeCapability ?? {}) as { mount?: { mountFlags: readonly string[] } };
    calls.push({ rpc, volume: request.volumeId ?? "", mountFlags: mount?.mountFlags ?? [] });
  };
  const csiDrivers: CsiDriverPort = {
    at(address) {
      const client = storage.ports.csiDrivers.at(address);
      const noting =
        <A extends object, R>(rpc: SimCsiCall["rpc"], call: (request: A, options?: CallOptions) => R) =>
        (request: A, options?: CallOptions): R => {
          note(rpc, request);
          return call(request, options);
        };
      return {
        ...client,
        nodeStageVolume: noting("stage", client.nodeStageVolume),
        nodePublishVolume: noting("publish", client.nodePublishVolume),
        nodeUnpublishVolume: noting("unpublish", client.nodeUnpublishVolume),
        nodeUnstageVolume: noting("unstage", client.nodeUnstageVolume),
        ...answers,
      };
    },
  };
  const watch = (seen: SimObservation): void => {
    if (seen.kind === "event") events.push(`${seen.event.object.name} ${seen.event.reason}: ${seen.event.message}`);
  };
  const node = createSimNode({
    ...{
      seed: "csi",
      scheduler,
      api: server,
      images: [simImage(containerOf().image ?? "")],
      programs: () => runsForever,
    },
    ...{ plugins: storage.ports.plugins, csiDrivers: () => csiDrivers, watch, config: { nodeName: NODE, ...config } },
    ...(machine && { machine }),
    adaptRuntime: (runtime) => ({
      ...runtime,
      createContainer(request, options) {
        const name = request.sandboxConfig?.metadata?.name ?? "";
        const data = request.config?.mounts.find(({ containerPath }) => containerPath === "/data");
        relabelled.set(name, data?.selinuxRelabel === true);
        return runtime.createContainer(request, options);
      },
    }),
  });
  server.put("csidrivers", { metadata: { name: SIM_DRIVER }, spec: { attachRequired: false, ...spec } });
  const mounted = () => node.host.mounts.all().filter(({ mountPoint }) => mountPoint.includes("/kubernetes.io~csi/"));
  return {
    ...{ node, server, calls, events, relabelled, mounted },
    /** Creates a claim, bound to a volume of the driver with the handle `name`; default: with the driver's usual file system. */
    claim(name: string, accessMode: string, fsType?: string): void {
      const { metadata } = server.put("persistentvolumeclaims", {
        metadata: { namespace: NAMESPACE, name },
        spec: { accessModes: [accessMode], volumeName: `pv-${name}`, resources: { requests: { storage: "1Gi" } } },
      });
      server.put("persistentvolumes", {
        metadata: { name: `pv-${name}` },
        spec: {
          ...{
            accessModes: [accessMode],
            capacity: { storage: "1Gi" },
            csi: { driver: SIM_DRIVER, volumeHandle: name, ...(fsType && { fsType }) },
          },
          claimRef: { namespace: NAMESPACE, name, uid: metadata?.uid ?? "" },
        },
      });
      server.setStatusOf("persistentvolumeclaims", { namespace: NAMESPACE, name }, { phase: "Bound" });
    },
    /** Creates a pod with a container that mounts the claim's volume. */
    pod(name: string, claimName: string, securityContext: object = {}): void {
      server.put(
        "pods",
        newPod(name, {
          ...{ nodeName: NODE, securityContext, terminationGracePeriodSeconds: 1 },
          volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
          containers: [{ ...containerOf(), volumeMounts: [{ name: "data", mountPath: "/data" }] }],
        }),
      );
    },
    remove: (name: string) => server.delete("pods", { namespace: NAMESPACE, name }, { gracePeriodSeconds: 1 }),
  };
}

/** The answer with which a driver says that it has these abilities besides staging. */
export const capabilitiesOf = (...types: readonly number[]): CsiClient["nodeGetCapabilities"] => {
  return () => of({ capabilities: types.map((type) => ({ rpc: { type } })) }) as never;
};
