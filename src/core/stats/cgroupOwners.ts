/**
 * Finds the owner of a cgroup path. Runtimes name cgroups of containers and sandboxes by ID, below the pod's cgroup:
 * `<id>`, or `cri-containerd-<id>.scope` with systemd. Upstream: container factories of cadvisor, GetPodByCgroupfs.
 */
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../runtime/podRuntimeStatus.ts";

/** A pod, its sandbox, or one of its containers. */
export interface CgroupOwner {
  readonly pod: PodRuntimeStatus;
  readonly sandbox?: RuntimeSandbox;
  readonly container?: RuntimeContainer;
}

/** Returns the owner of a cgroup path; undefined for cgroups of the node and unknown ones. */
export type OwnerOf = (path: string) => CgroupOwner | undefined;

/** The cgroup of a container's monitor process. */
const MONITOR = /conmon/;
const ID_AT_END = /(?:^|[-:])([^-:]+?)(?:\.scope)?$/;
const POD = /^pod(.+)$/;
const POD_SLICE = /-pod([^-]+)\.slice$/;

/** Builds the lookup from all pods as last inspected. */
export function cgroupOwners(pods: readonly PodRuntimeStatus[]): OwnerOf {
  const byUid = new Map<string, CgroupOwner>();
  const byId = new Map<string, CgroupOwner>();
  for (const pod of pods) {
    byUid.set(pod.podUid, { pod });
    for (const sandbox of pod.sandboxes) byId.set(sandbox.id, { pod, sandbox });
    for (const container of pod.containers) byId.set(container.id, { pod, container });
  }
  return (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const uid = POD.exec(name)?.[1] ?? POD_SLICE.exec(name)?.[1]?.replaceAll("_", "-");
    if (uid !== undefined) return byUid.get(uid);
    return MONITOR.test(name) ? undefined : byId.get(ID_AT_END.exec(name)?.[1] ?? "");
  };
}
