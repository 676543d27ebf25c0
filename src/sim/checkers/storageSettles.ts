/** CSI drivers once all faults have ended, and what is left of their volumes when no pod is left. */
import { csiPluginDir } from "../../core/paths.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { SimNode } from "../simNode.ts";
import type { SimStorage } from "../storage/simStorage.ts";

type Server = Pick<SimApiServer, "object" | "objects">;

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
  // Directories of drivers stay.
  const left = files.paths().filter((path) => path.startsWith(stages) && path.slice(stages.length).includes("/"));
  return [
    ...mounts.map(({ mountPoint }) => `staged volume at ${mountPoint}`),
    ...left.map((path) => `path ${path}`),
    ...volumesInUse.map((name) => `volume in use: ${name}`),
    ...volumesAttached.map(({ name }) => `attached volume: ${name}`),
    ...server.objects("volumeattachments").map(({ metadata }) => `VolumeAttachment ${metadata?.name}`),
  ];
}
