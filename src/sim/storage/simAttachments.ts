/**
 * The controllers of volumes on a simulated API server: the provisioner (simProvisioner.ts), and the attach and detach
 * controller, which attaches volumes to the node for pods that need them. As upstream's, it takes a volume away only when no pod
 * needs it and the Node does not have it in use. Own nothing but the objects of the server and the operations in progress.
 * Bound: one operation per volume.
 */
import { attachmentId, csiVolumeName, nodeVolumeName } from "../../core/csi/csiLayout.ts";
import type { ApiObjects } from "../../core/api/apiResources.ts";
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import { createPrng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { SIM_NAMESPACE } from "../workload/workload.ts";
import { isAttachedFirst, SIM_CSI_DRIVERS } from "./simCsiDrivers.ts";
import { createProvisioner } from "./simProvisioner.ts";
import type { SimVolumeSizes } from "./simVolumeSizes.ts";

const LATEST_MS = 5_000;
const DETACH_MS = 500;

/** Decides about an attempt to attach a volume: the time that it takes, and its error. */
export type SimAttachFaults = (volume: string) => { readonly afterMs: number; readonly error?: string };

/** Starts the controllers; they see all pods from now on. */
export function startStorageControllers(
  node: SimNode,
  server: SimApiServer,
  faults: SimAttachFaults,
  { sizes, durationMs }: { readonly sizes: SimVolumeSizes; readonly durationMs: number },
): void {
  for (const { name, isAttached, isStaged } of SIM_CSI_DRIVERS) {
    const volumeLifecycleModes = ["Persistent", "Ephemeral"];
    const wishes = { podInfoOnMount: !isAttached, requiresRepublish: !isStaged, seLinuxMount: isStaged };
    server.put("csidrivers", {
      metadata: { name },
      spec: { attachRequired: isAttached, volumeLifecycleModes, ...wishes },
    });
  }
  const attachments = createAttachments(node, server, faults);
  const provisioner = createProvisioner(node, server, sizes, durationMs);
  const later = (ms: number, action: () => void): void => void node.scheduler.schedule(action, ms);
  server.changes$.subscribe({
    next({ resource, type, object }) {
      const { metadata, spec } = object as ApiPod;
      if (resource === "pods" && type === "ADDED" && metadata?.namespace === SIM_NAMESPACE) {
        for (const claim of claimsOf(spec)) {
          const prng = createPrng(`claim ${claim} of ${metadata.uid}`);
          later(prng.chance(0.5) ? 0 : prng.int(1, LATEST_MS), () => provisioner.provision(claim));
        }
      }
      if (["pods", "nodes", "persistentvolumeclaims"].includes(resource)) later(0, attachments.look);
    },
  });
}

const claimsOf = (spec: ApiPod["spec"]): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => (claim === undefined ? [] : [claim.claimName]));

interface Attachable {
  readonly driver: string;
  readonly handle: string;
  readonly volumeName: string;
}

function createAttachments(node: SimNode, server: SimApiServer, faults: SimAttachFaults) {
  const { nodeName } = node.config;
  const busy = new Set<string>();
  const statusOf = () => server.object("nodes", { name: nodeName })?.status ?? {};
  const attached = () => statusOf().volumesAttached ?? [];
  const setAttached = (list: NonNullable<ReturnType<typeof statusOf>["volumesAttached"]>): void =>
    server.setStatusOf("nodes", { name: nodeName }, { ...statusOf(), volumesAttached: list });
  const needed = () => neededVolumes(server, nodeName);
  const isInUse = (name: string) => statusOf().volumesInUse?.includes(name) === true;
  const attach = ({ driver, handle, volumeName }: Attachable): void => {
    const name = attachmentId(driver, handle, nodeName);
    const source = { persistentVolumeName: handle.replace("volume-of-", "pv-") };
    server.put("volumeattachments", { metadata: { name }, spec: { attacher: driver, nodeName, source } });
    const { afterMs, error: message } = faults(volumeName);
    const run = (): void => {
      busy.delete(volumeName);
      if (message !== undefined) {
        server.setStatusOf("volumeattachments", { name }, { attached: false, attachError: { message } });
        node.scheduler.schedule(look, LATEST_MS);
        return;
      }
      server.setStatusOf("volumeattachments", { name }, { attached: true, attachmentMetadata: { path: "/dev/x" } });
      setAttached([...attached().filter((each) => each.name !== volumeName), { name: volumeName, devicePath: "" }]);
    };
    node.scheduler.schedule(run, afterMs);
  };
  const detach = (volumeName: string): void => {
    setAttached(attached().filter(({ name }) => name !== volumeName));
    node.scheduler.schedule(() => {
      const [driver = "", handle = ""] = volumeName.split("/").at(-1)?.split("^") ?? [];
      // The operation continues, so no other one begins meanwhile.
      if (isInUse(volumeName)) return attach({ driver, handle, volumeName });
      busy.delete(volumeName);
      server.delete("volumeattachments", { name: attachmentId(driver, handle, nodeName) });
      node.see({ kind: "csi", driver, rpc: "detach", volume: handle, path: "", call: 0, what: "done" });
      look();
    }, DETACH_MS);
  };
  const once = (name: string, act: () => void): void => {
    if (busy.has(name)) return;
    busy.add(name);
    act();
  };
  const look = (): void => {
    const wanted = needed();
    const has = new Set(attached().map(({ name }) => name));
    for (const each of wanted.values()) if (!has.has(each.volumeName)) once(each.volumeName, () => attach(each));
    const tried = server.objects("volumeattachments").map(({ spec }) => nameOfAttachment(spec));
    for (const name of [...has, ...tried]) if (!wanted.has(name) && !isInUse(name)) once(name, () => detach(name));
  };
  return { look };
}

const nameOfAttachment = ({ attacher, source }: ApiObjects["volumeattachments"]["spec"]): string =>
  nodeVolumeName(csiVolumeName(attacher, source.persistentVolumeName?.replace("pv-", "volume-of-") ?? ""));

/** Returns the volumes that pods of the node need, and that must be attached. */
function neededVolumes(server: SimApiServer, nodeName: string): ReadonlyMap<string, Attachable> {
  const pods = server.objects("pods").filter((pod) => pod.spec?.nodeName === nodeName);
  const claims = pods.flatMap((pod) => (isTerminalPhase(pod.status?.phase) ? [] : claimsOf(pod.spec)));
  const volumes = claims.flatMap((claim) => {
    const { csi } = server.object("persistentvolumes", { name: `pv-${claim}` })?.spec ?? {};
    if (csi === undefined || !isAttachedFirst(csi.driver)) return [];
    const { driver, volumeHandle: handle } = csi;
    return [{ driver, handle, volumeName: nodeVolumeName(csiVolumeName(driver, handle)) }];
  });
  return new Map(volumes.map((each) => [each.volumeName, each]));
}
