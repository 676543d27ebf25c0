/**
 * Parts of volumes that a container mounts: what is bound where on the node, before the runtime is told of it.
 * Counterparts: the subPath half of makeMounts and ExpandContainerVolumeMounts.
 */
import type { Container, Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { type PathRoots, podVolumeSubpathsDir } from "../paths.ts";
import { err, ok, type Result } from "../result.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { expand } from "./expansion.ts";

type VolumeMount = NonNullable<Container["volumeMounts"]>[number];

export interface SubPathsInput {
  readonly pod: Pod;
  readonly container: Container;
  /** The pod's mounted volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumeLayout>;
  /** The container's environment, for `subPathExpr`. */
  readonly environment: ReadonlyMap<string, string>;
  readonly directories: Pick<PathRoots, "rootDir">;
}

/** A part of a volume to be bound. */
export interface SubPathBind {
  /** Of the volume mount in the container's list. */
  readonly index: number;
  readonly volume: string;
  readonly volumeRoot: string;
  readonly subPath: string;
  /** Where on the node; this is what the runtime mounts. */
  readonly target: string;
  /** Who makes parts that are missing: not in volumes that the kubelet fills, which nobody else writes to. */
  readonly isMade: boolean;
}

const refuse = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError" }));

/** The part a mount asks for, variables replaced; empty: the whole volume. */
export function subPathOf(
  { subPath = "", subPathExpr = "" }: VolumeMount,
  environment: ReadonlyMap<string, string>,
): Result<string> {
  const missing = new Set<string>();
  const expanded = expand(subPathExpr, (name) => {
    const value = environment.get(name) ?? "";
    if (value === "") missing.add(name);
    return value;
  });
  if (missing.size > 0) return refuse(`missing value for ${[...missing].sort().join(", ")}`);
  const path = subPathExpr === "" ? subPath : expanded;
  if (path.startsWith("/")) return refuse(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes("..")) return refuse(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return ok(path);
}

/** Everything to bind for the container, in the order of its mounts; images are the runtime's. */
export function subPathBinds(input: SubPathsInput): Result<readonly SubPathBind[]> {
  const { pod, container, volumes, environment, directories } = input;
  const binds: SubPathBind[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes.get(mount.name);
    const subPath = subPathOf(mount, environment);
    if (!subPath.ok) return subPath;
    if (volume === undefined || volume.image !== undefined || subPath.value === "") continue;
    const top = podVolumeSubpathsDir(directories, pod.metadata.uid);
    binds.push({
      index,
      volume: mount.name,
      volumeRoot: volume.path,
      subPath: subPath.value,
      target: `${top}/${volume.name}/${container.name}/${index}`,
      isMade: !volume.hasContent,
    });
  }
  return ok(binds);
}
