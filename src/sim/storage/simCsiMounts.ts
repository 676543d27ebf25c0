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

const isMounted = ({ mounts }: CsiMachine, path: string): boolean =>
  mounts.all().some(({ mountPoint }) => mountPoint === path);

/** Mounts the volume for the node. Throws if the directory is missing. */
export function stage(machine: CsiMachine, volumeId: string, path: string): void {
  if (machine.files.at(path)?.kind !== "directory") throw csiFailure(GrpcStatus.internal, `${path} is no directory`);
  if (!isMounted(machine, path)) mountVolume(machine, volumeId, path);
}

function mountVolume({ files, mounts }: CsiMachine, volumeId: string, path: string): void {
  mounts.byHost.mount({ source: `/dev/${volumeId}`, target: path, fsType: "ext4", options: [] });
  files.put(`${path}/${DATA}`, volumeId);
}

interface Publication {
  readonly volumeId: string;
  readonly path: string;
  readonly readonly: boolean;
  /** Where the volume is staged; undefined: the driver does not stage. */
  readonly from: string | undefined;
}

/** Mounts the volume for a pod. Throws if it is not staged, or the directory of the pod's volume is missing. */
export function publish(machine: CsiMachine, { volumeId, path, readonly, from }: Publication): void {
  const { files, mounts } = machine;
  if (from !== undefined && !isMounted(machine, from)) {
    throw csiFailure(GrpcStatus.failedPrecondition, `${volumeId} is not staged at ${from}`);
  }
  if (files.at(parentOf(path))?.kind !== "directory") throw csiFailure(GrpcStatus.internal, `no directory for ${path}`);
  if (isMounted(machine, path)) return;
  files.tree.makeDirectory(path, DIRECTORY_MODE);
  if (from === undefined) mountVolume(machine, volumeId, path);
  else mounts.byHost.bindTree(from, path, readonly, false);
}

/** Unmounts the volume of a pod, and removes its mount point. */
export function unpublish(machine: CsiMachine, path: string): void {
  unstage(machine, path);
  if (machine.files.at(path) !== undefined && machine.files.tree.list(path).length === 0) machine.files.drop(path);
}

/** Unmounts the volume of the node; the mount point stays. */
export function unstage(machine: CsiMachine, path: string): void {
  if (isMounted(machine, path)) machine.mounts.byHost.unmount(path, false);
}

/** Returns whether a mounted volume has lost its file. */
export const hasLostData = (machine: CsiMachine, path: string): boolean =>
  isMounted(machine, path) && machine.files.read(`${path}/${DATA}`) === undefined;
