/** Places on disk of CSI block volumes, in upstream's layout. Upstream: csi_block.go of pkg/volume/csi. */
import type { PathRoots } from "../paths.ts";
import { type BlockPlaces, deviceLink } from "../volume/blockVolume.ts";

/** Places of a CSI block volume of a pod. */
export interface CsiBlockPlaces extends BlockPlaces {
  /** Directory of the volume for all pods of the node. */
  readonly volumeDir: string;
  /** Directory of vol_data.json. */
  readonly dataDir: string;
  /** Directory in which the driver stages the volume. */
  readonly staging: string;
  /** Directory of the devices that the driver publishes, one for each pod. */
  readonly publishDir: string;
  /** The device that the driver publishes for this pod. */
  readonly publish: string;
}

/** Returns the places; `name` is that of the PersistentVolume. */
export function csiBlockPlaces(directories: Pick<PathRoots, "rootDir">, uid: string, name: string): CsiBlockPlaces {
  const plugin = "kubernetes.io/csi";
  const devices = `${directories.rootDir}/plugins/${plugin}/volumeDevices`;
  const [volumeDir, publishDir] = [`${devices}/${name}`, `${devices}/publish/${name}`];
  const mapDir = `${volumeDir}/dev`;
  return {
    ...{ volumeDir, dataDir: `${volumeDir}/data`, mapDir, map: `${mapDir}/${uid}` },
    ...{ staging: `${devices}/staging/${name}`, publishDir, publish: `${publishDir}/${uid}` },
    link: deviceLink(directories, { uid, plugin, name }),
  };
}
