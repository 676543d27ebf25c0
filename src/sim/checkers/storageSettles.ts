/** CSI drivers once all faults have ended, and what is left of their volumes when no pod is left. */
import { csiPluginDir } from "../../core/paths.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { SimNode } from "../simNode.ts";
import type { SimStorage } from "../storage/simStorage.ts";
import { RESIZE_INFEASIBLE } from "../storage/simVolumeSizes.ts";

type Server = Pick<SimApiServer, "object" | "objects">;

const BLOCK_DIRECTORIES: ReadonlySet<string> = new Set(["volumeDevices/staging", "volumeDevices/publish"]);

/** Lists one sentence per driver that the CSINode does not have as the driver is. */
export function openStorage(
  { config: { nodeName } }: Pick<SimNode, "config">,
  server: Pick<Server, "object">,
  storage: Pick<SimStorage, "processes" | "nodeIdOf"> | undefined,
): readonly string[] {
  const drivers = server.object("csinodes", { name: nodeName })?.spec.drivers ?? [];
  return (storage?.processes ?? []).flatMap(({ name }) => {
    const known = drivers.find((driver) => driver.name === name)?.nodeID;
    const own = storage?.nodeIdOf(name);
    return known === own ? [] : [`the CSINode has the node ID ${known} of ${name}, its driver ${own}`];
  });
}

/**
 * Lists the claims of running pods that are smaller than their volumes, although the driver would expand them. The node leaves an
 * infeasible expansion to the controller, which may wait for the end of these pods.
 */
export function openGrowth(
  { config: { nodeName } }: Pick<SimNode, "config">,
  server: Server,
  storage: Pick<SimStorage, "sizes"> | undefined,
): readonly string[] {
  if (storage === undefined) return [];
  const pods = server.objects("pods").filter(({ metadata, spec, status }) => {
    const isRunning = status?.phase === "Running" && metadata?.deletionTimestamp === undefined;
    return isRunning && spec?.nodeName === nodeName;
  });
  const claims = pods.flatMap(({ metadata, spec }) =>
    (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
      claim === undefined ? [] : { namespace: metadata?.namespace ?? "", name: claim.claimName },
    ),
  );
  return claims.flatMap((ref) => {
    const claim = server.object("persistentvolumeclaims", ref);
    const volume = server.object("persistentvolumes", { name: claim?.spec?.volumeName ?? "" });
    const [has, wants] = [claim?.status?.capacity?.["storage"], volume?.spec?.capacity?.["storage"]];
    const { volumeHandle = "" } = volume?.spec?.csi ?? {};
    const isInfeasible = claim?.status?.allocatedResourceStatuses?.["storage"] === RESIZE_INFEASIBLE;
    const isLeft = storage.sizes.isInUse(volumeHandle) || (isInfeasible && storage.sizes.isAwaited(volumeHandle));
    return has === wants || isLeft ? [] : [`claim ${ref.name} has ${has}, its volume ${wants}`];
  });
}

/** Lists the mounts, directories and attachments of volumes that no pod uses any more. */
export function leakedStorage(
  { config: { nodeName, directories }, files, host }: Pick<SimNode, "config" | "files" | "host">,
  server: Server,
  storage: SimStorage | undefined,
): readonly string[] {
  if (storage === undefined) return [];
  const stages = `${csiPluginDir(directories)}/`;
  const { volumesInUse = [], volumesAttached = [] } = server.object("nodes", { name: nodeName })?.status ?? {};
  const mounts = host.mounts.all().filter(({ mountPoint }) => mountPoint.startsWith(stages));
  // Directories of drivers, and those of all block volumes, stay.
  const left = files.paths().filter((path) => {
    const inside = path.startsWith(stages) ? path.slice(stages.length) : "";
    return inside.includes("/") && !BLOCK_DIRECTORIES.has(inside);
  });
  return [
    ...mounts.map(({ mountPoint }) => `staged volume at ${mountPoint}`),
    ...host.mounts.loops().map((path) => `loop device on ${path}`),
    ...left.map((path) => `path ${path}`),
    ...volumesInUse.map((name) => `volume in use: ${name}`),
    ...volumesAttached.map(({ name }) => `attached volume: ${name}`),
    ...server.objects("volumeattachments").map(({ metadata }) => `VolumeAttachment ${metadata?.name}`),
  ];
}
