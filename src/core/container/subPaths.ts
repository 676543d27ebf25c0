/**
 * SubPath mounts of a container: the paths to bind on the node before the container is created. Upstream: the subPath
 * half of makeMounts and ExpandContainerVolumeMounts.
 */
import type { Container, Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { type PathRoots, podVolumeSubpathsDir } from "../paths.ts";
import { err, ok, type Result } from "../result.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { type TextBudget, textBudget } from "./textBudget.ts";

type VolumeMount = NonNullable<Container["volumeMounts"]>[number];

/** The inputs of a container's subPath binds. */
export interface SubPathsInput {
  readonly pod: Pod;
  readonly container: Container;
  /** The pod's mounted volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumeLayout>;
  /** The container's environment, for `subPathExpr`. */
  readonly environment: ReadonlyMap<string, string>;
  readonly directories: Pick<PathRoots, "rootDir">;
}

/** A subPath to bind. */
export interface SubPathBind {
  /** Index of the container's volumeMount. */
  readonly index: number;
  readonly volume: string;
  readonly volumeRoot: string;
  readonly subPath: string;
  /** Mount point on the node, which the runtime mounts into the container. */
  readonly target: string;
  /** Whether missing directories are created; false in volumes that the kubelet fills, which are read-only. */
  readonly isMade: boolean;
}

const refuse = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError" }));

const WHOLE_VOLUME = ok("");

/** Returns the expanded subPath of a mount; empty for the whole volume. */
function subPathOf(
  { subPath = "", subPathExpr = "" }: VolumeMount,
  index: number,
  environment: ReadonlyMap<string, string>,
  budget: TextBudget,
): Result<string> {
  if (subPath === "" && subPathExpr === "") return WHOLE_VOLUME;
  const missing = new Set<string>();
  const expanded = budget.expand(`volumeMounts[${index}].subPathExpr`, subPathExpr, (name) => {
    const value = environment.get(name) ?? "";
    if (value === "") missing.add(name);
    return value;
  });
  if (!expanded.ok) return expanded;
  if (missing.size > 0) return refuse(`missing value for ${[...missing].sort().join(", ")}`);
  const path = subPathExpr === "" ? subPath : expanded.value;
  if (path.startsWith("/")) return refuse(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes("..")) return refuse(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return ok(path);
}

/** Returns the expanded subPaths of all mounts of a container, in order; empty for the whole volume. */
export function subPathsOf(
  { name, volumeMounts = [] }: Container,
  environment: ReadonlyMap<string, string>,
): Result<readonly string[]> {
  const budget = textBudget(name, "paths within volumes");
  const paths: string[] = [];
  for (const [index, mount] of volumeMounts.entries()) {
    const path = subPathOf(mount, index, environment, budget);
    if (!path.ok) return path;
    paths.push(path.value);
  }
  return ok(paths);
}

/** Returns all binds of the container in mount order. Image volumes are excluded, since the runtime mounts them. */
export function subPathBinds(input: SubPathsInput): Result<readonly SubPathBind[]> {
  const { pod, container, volumes, environment, directories } = input;
  const subPaths = subPathsOf(container, environment);
  if (!subPaths.ok) return subPaths;
  const binds: SubPathBind[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes.get(mount.name);
    const subPath = subPaths.value[index] ?? "";
    if (volume === undefined || volume.image !== undefined || subPath === "") continue;
    const top = podVolumeSubpathsDir(directories, pod.metadata.uid);
    binds.push({
      index,
      volume: mount.name,
      volumeRoot: volume.path,
      subPath,
      target: `${top}/${volume.name}/${container.name}/${index}`,
      isMade: !volume.hasContent,
    });
  }
  return ok(binds);
}
