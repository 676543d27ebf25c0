/**
 * The work of CSI drivers on the mounts of a simulated machine. Each volume has a file, by which lost data is found: only a
 * program that deletes below a mount can remove it. Every step can be repeated. Stateless.
 */
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import { errorCodeOfStatus, GrpcStatus } from "../../core/grpcStatus.ts";
import type { SimHost } from "../host/simHost.ts";
import { parentOf } from "../host/simPaths.ts";

export type CsiMachine = Pick<SimHost, "files" | "mounts">;

/** Returns the failure of a call with this status of gRPC. */
export const csiFailure = (status: number, details: string): KubeletError =>
  kubeletError(errorCodeOfStatus(status), details, { cause: { status, details } });

const DIRECTORY_MODE = 0o750;
const DATA = "data";

/** Returns whether something is mounted at the path. */
export const isMounted = ({ mounts }: CsiMachine, path: string): boolean =>
  mounts.all().some(({ mountPoint }) => mountPoint === path);

/** Returns the failure of a publication of a volume that is not staged. */
export const notStaged = (volumeId: string, path: string): KubeletError =>
  csiFailure(GrpcStatus.failedPrecondition, `${volumeId} is not staged at ${path}`);

const needDirectory = ({ files }: CsiMachine, path: string): void => {
  if (files.at(path)?.kind !== "directory") throw csiFailure(GrpcStatus.internal, `${path} is no directory`);
};

/** Stages a device, of which a file in the directory tells. Throws if the directory is missing. */
export function stageDevice(machine: CsiMachine, volumeId: string, path: string): void {
  needDirectory(machine, path);
  machine.files.put(`${path}/${DATA}`, volumeId);
}

/** Removes that file. */
export function unstageDevice({ files }: CsiMachine, path: string): void {
  if (files.at(`${path}/${DATA}`) !== undefined) files.drop(`${path}/${DATA}`);
}

/** A file system as a request asks for it; an empty type stands for the driver's own. */
export interface CsiFileSystem {
  readonly fsType: string;
  readonly mountFlags: readonly string[];
}

const USUAL: CsiFileSystem = { fsType: "", mountFlags: [] };

/** Mounts the volume for the node. Throws if the directory is missing. */
export function stage(machine: CsiMachine, volumeId: string, path: string, wanted = USUAL): void {
  needDirectory(machine, path);
  if (!isMounted(machine, path)) mountVolume(machine, volumeId, path, wanted);
}

function mountVolume({ files, mounts }: CsiMachine, volumeId: string, path: string, wanted: CsiFileSystem): void {
  const { fsType, mountFlags: options } = wanted;
  mounts.byHost.mount({ source: `/dev/${volumeId}`, target: path, fsType: fsType || "ext4", options });
  files.put(`${path}/${DATA}`, volumeId);
}

interface Publication {
  readonly volumeId: string;
  readonly path: string;
  readonly readonly: boolean;
  /** Where the volume is staged; undefined: the driver does not stage. */
  readonly from: string | undefined;
  readonly wanted?: CsiFileSystem | undefined;
}

/** Mounts the volume for a pod. Throws if it is not staged, or the directory of the pod's volume is missing. */
export function publish(machine: CsiMachine, publication: Publication): void {
  const { volumeId, path, readonly, from, wanted = USUAL } = publication;
  const { files, mounts } = machine;
  if (from !== undefined && !isMounted(machine, from)) {
    throw notStaged(volumeId, from);
  }
  if (files.at(parentOf(path))?.kind !== "directory") throw csiFailure(GrpcStatus.internal, `no directory for ${path}`);
  if (isMounted(machine, path)) return;
  files.tree.makeDirectory(path, DIRECTORY_MODE);
  if (from === undefined) mountVolume(machine, volumeId, path, wanted);
  else mounts.byHost.bindTree(from, path, readonly, false);
}

const deviceOf = (volumeId: string): string => `/dev/csi-${volumeId}`;

/** Gives a pod the device of a volume, bound to a file. Throws if the directory for it is missing. */
export function publishDevice({ files, mounts }: CsiMachine, volumeId: string, path: string): void {
  if (files.at(parentOf(path))?.kind !== "directory") throw csiFailure(GrpcStatus.internal, `no directory for ${path}`);
  if (isMounted({ files, mounts }, path)) return;
  files.put(deviceOf(volumeId), volumeId);
  files.put(path, "");
  mounts.byHost.bindTree(deviceOf(volumeId), path, false, false);
}

/** Unmounts the volume of a pod, and removes its mount point. */
export function unpublish(machine: CsiMachine, path: string): void {
  unstage(machine, path);
  const { files } = machine;
  const kind = files.at(path)?.kind;
  if (kind === "file" || (kind !== undefined && files.tree.list(path).length === 0)) files.drop(path);
}

/** Unmounts the volume of the node; the mount point stays. */
export function unstage(machine: CsiMachine, path: string): void {
  if (isMounted(machine, path)) machine.mounts.byHost.unmount(path, false);
}

/** Returns whether a mounted volume has lost its file; a device is one itself. */
export const hasLostData = (machine: CsiMachine, path: string): boolean =>
  isMounted(machine, path) && machine.files.read(`${path}/${DATA}`) === undefined && !machine.files.read(path);
