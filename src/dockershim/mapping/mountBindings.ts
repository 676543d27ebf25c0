/** Mounts of CRI as mounts of Docker. Pure. */
import { MountPropagation } from "../../gen/cri.ts";
import type { Mount } from "../../gen/cri.ts";
import { invalidArgument } from "../../grpcServer/rpcFault.ts";
import type { ApiVersion } from "../engine/apiVersion.ts";
import { cannot } from "./securityOptions.ts";

/** The fields of a HostConfig. */
export interface MountPart {
  /** `source:target:options`, which creates the source if it is missing and can relabel it. */
  readonly Binds: readonly string[];
  readonly Mounts: readonly unknown[];
}

const CREATES_SOURCES = 42;
const READ_ONLY_BELOW = 44;

const PROPAGATION: Readonly<Record<number, string>> = {
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: "rslave",
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: "rshared",
};

/** Maps mounts. Throws UNIMPLEMENTED for what Docker cannot do, INVALID_ARGUMENT for contradictions. */
export function mountPart(mounts: readonly Mount[], version: ApiVersion): MountPart {
  for (const mount of mounts) check(mount, version);
  const asBinds = (mount: Mount): boolean =>
    mount.selinuxRelabel ||
    (!version.atLeast(CREATES_SOURCES) && !`${mount.hostPath}${mount.containerPath}`.includes(":"));
  return {
    Binds: mounts.filter(asBinds).map(bind),
    Mounts: mounts.filter((mount) => !asBinds(mount)).map((mount) => longMount(mount, version)),
  };
}

function check(mount: Mount, version: ApiVersion): void {
  const { containerPath, hostPath, image, uidMappings, gidMappings } = mount;
  if (image !== undefined && image.image !== "") throw cannot(`an image as the volume at ${containerPath}`);
  if (uidMappings.length + gidMappings.length > 0) throw cannot(`other user ids in the mount at ${containerPath}`);
  if (containerPath === "") throw invalidArgument("mount.container_path", "is required");
  if (hostPath === "") throw invalidArgument("mount.host_path", `is required for ${containerPath}`);
  if (mount.selinuxRelabel && `${hostPath}${containerPath}`.includes(":")) {
    throw cannot(`labels of SELinux for a path with a colon, ${hostPath}`);
  }
  if (!mount.recursiveReadOnly) return;
  if (!version.atLeast(READ_ONLY_BELOW)) throw cannot(`mounts below ${hostPath} read-only: Docker 25 can`);
  if (!mount.readonly || mount.propagation !== MountPropagation.PROPAGATION_PRIVATE) {
    throw invalidArgument("mount.recursive_read_only", `${hostPath} has to be read-only and private`);
  }
}

function bind(mount: Mount): string {
  const propagation = PROPAGATION[mount.propagation];
  const options = [
    ...(mount.readonly ? ["ro"] : []),
    ...(propagation === undefined ? [] : [propagation]),
    ...(mount.selinuxRelabel ? ["Z"] : []),
  ];
  return [mount.hostPath, mount.containerPath, ...(options.length === 0 ? [] : [options.join(",")])].join(":");
}

function longMount(mount: Mount, version: ApiVersion): unknown {
  const propagation = PROPAGATION[mount.propagation];
  return {
    Type: "bind",
    Source: mount.hostPath,
    Target: mount.containerPath,
    ReadOnly: mount.readonly,
    BindOptions: {
      ...(propagation === undefined ? {} : { Propagation: propagation }),
      ...(version.atLeast(CREATES_SOURCES) ? { CreateMountpoint: true } : {}),
      ...(mount.readonly && version.atLeast(READ_ONLY_BELOW) ? { ReadOnlyNonRecursive: !mount.recursiveReadOnly } : {}),
    },
  };
}
