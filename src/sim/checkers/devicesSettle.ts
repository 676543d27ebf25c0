/** Devices and claims once all faults have ended, and what is still given out when no pod is left. */
import { claimsStatePath, deviceCheckpointPath } from "../../core/paths.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import { SIM_PLUGIN_RESOURCES } from "../hardware/simDevicePlugins.ts";
import type { SimHardware } from "../hardware/simHardware.ts";
import type { SimNode } from "../simNode.ts";

/** Lists one sentence per resource whose devices are not all on the Node. */
export function openDevices(
  { config: { nodeName } }: Pick<SimNode, "config">,
  server: Pick<SimApiServer, "object">,
  hardware: Pick<SimHardware, "count"> | undefined,
): readonly string[] {
  if (hardware === undefined) return [];
  const { capacity = {}, allocatable = {} } = server.object("nodes", { name: nodeName })?.status ?? {};
  return SIM_PLUGIN_RESOURCES.flatMap(({ resource }) => {
    const amounts = [capacity[resource] ?? "0", allocatable[resource] ?? "0"];
    const count = String(hardware.count(resource));
    return amounts.every((amount) => amount === count)
      ? []
      : [`the Node has ${amounts.join(", ")} of ${resource} (capacity, allocatable), its plugin ${count}`];
  });
}

/** The part of the checkpoint of devices that is read. */
interface Checkpoint {
  readonly Data?: { readonly PodDeviceEntries?: readonly { readonly PodUID: string }[] | null };
}

/** Lists what drivers, and the checkpoints of the kubelet, still give to pods that are gone. */
export function leakedDevices(
  { config: { directories }, files }: Pick<SimNode, "config" | "files">,
  hardware: Pick<SimHardware, "prepared"> | undefined,
): readonly string[] {
  if (hardware === undefined) return [];
  const { Data } = JSON.parse(files.read(deviceCheckpointPath(directories)) ?? "{}") as Checkpoint;
  const claims = files.read(claimsStatePath(directories)) ?? "";
  return [
    ...hardware.prepared().map((claim) => `prepared claim: ${claim}`),
    ...(Data?.PodDeviceEntries ?? []).map(({ PodUID }) => `devices of the pod ${PodUID}`),
    ...(claims.includes("PodUIDs") ? [`claims in the checkpoint: ${claims}`] : []),
  ];
}
