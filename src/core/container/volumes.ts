/**
 * Where each volume of a pod is on the node, and what must be made there first. Serves emptyDir on disk and hostPath;
 * any other kind is refused by name. Counterpart: the volume plugins.
 */
import type { Pod } from "../api.ts";
import { type PathRoots, emptyDirPath } from "../paths.ts";
import { type Result, ok } from "../result.ts";
import { mountError } from "./configError.ts";

type Volume = NonNullable<Pod["spec"]["volumes"]>[number];

/** A volume as it must be on the node before containers start. */
export type VolumePlan =
  | {
      readonly kind: "emptyDir";
      readonly name: string;
      readonly path: string;
      /** Mode of the directory to make. */
      readonly mode: number;
    }
  | {
      readonly kind: "hostPath";
      readonly name: string;
      readonly path: string;
      /** What must be at the path; empty: anything or nothing. `DirectoryOrCreate` and `FileOrCreate` make it. */
      readonly type: string;
    };

const EMPTY_DIR_MODE = 0o777;

function planVolume(pod: Pod, volume: Volume, roots: Pick<PathRoots, "rootDir">): Result<VolumePlan> {
  const { name, emptyDir, hostPath, ...others } = volume;
  if (emptyDir !== undefined) {
    if (emptyDir.medium) {
      return mountError(pod, `volume "${name}": emptyDir medium ${emptyDir.medium} is not served yet`, "Unimplemented");
    }
    return ok({ kind: "emptyDir", name, path: emptyDirPath(roots, pod.metadata.uid, name), mode: EMPTY_DIR_MODE });
  }
  if (hostPath !== undefined) return ok({ kind: "hostPath", name, path: hostPath.path, type: hostPath.type ?? "" });
  const [kind = "without a source"] = Object.entries(others).flatMap(([key, value]) =>
    value === undefined ? [] : key,
  );
  return mountError(pod, `volume "${name}": kind ${kind} is not served yet`, "Unimplemented");
}

/** What the types that name a kind want, in upstream's words. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  Directory: "directory",
  File: "file",
  Socket: "socket file",
  CharDevice: "character device",
  BlockDevice: "block device",
};

/** What to do about a hostPath of this type, given the kind of file found there; fails with FailedMount. */
export function hostPathStep(
  pod: Pod,
  { name, path, type }: VolumePlan & { readonly kind: "hostPath" },
  found: string | undefined,
): Result<"nothing" | "makeDirectory" | "makeFile"> {
  const wanted = type.replace("OrCreate", "");
  if (wanted === "" || wanted === found) return ok("nothing");
  if (found === undefined && type === "DirectoryOrCreate") return ok("makeDirectory");
  if (found === undefined && type === "FileOrCreate") return ok("makeFile");
  if (found === undefined) return mountError(pod, `volume "${name}": hostPath ${path} doesn't exist`, "NotFound");
  const kind = KIND_NAMES[wanted] ?? wanted;
  return mountError(pod, `volume "${name}": hostPath type check failed: ${path} is not a ${kind}, it's a ${found}`);
}

/** Volumes some container of the pod mounts; those nobody mounts are never set up. */
function mountedVolumes(pod: Pod): readonly Volume[] {
  const { containers: regular, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const containers = [...regular, ...initContainers, ...ephemeralContainers];
  const names = new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  return (pod.spec.volumes ?? []).filter(({ name }) => names.has(name));
}

/** All volumes the pod's containers mount, in the order of the spec; fails with FailedMount naming the volume. */
export function planVolumes(pod: Pod, roots: Pick<PathRoots, "rootDir">): Result<readonly VolumePlan[]> {
  const plans: VolumePlan[] = [];
  for (const volume of mountedVolumes(pod)) {
    const plan = planVolume(pod, volume, roots);
    if (!plan.ok) return plan;
    plans.push(plan.value);
  }
  return ok(plans);
}
