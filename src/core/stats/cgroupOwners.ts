/**
 * Finds the owner of a cgroup path. Runtimes name cgroups of containers and sandboxes by ID, below the pod's cgroup:
 * `<id>`, or `cri-containerd-<id>.scope` with systemd. Upstream: container factories of cadvisor, GetPodByCgroupfs.
 */
import type { MeasuredPod } from "../runtime/measuredPods.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";

/** A pod, its sandbox, or one of its containers. */
export interface CgroupOwner<Pod extends MeasuredPod = PodRuntimeStatus> {
  readonly pod: Pod;
  readonly sandbox?: Pod["sandboxes"][number];
  readonly container?: Pod["containers"][number];
}

/** Returns the owner of a cgroup path; undefined for cgroups of the node and unknown ones. */
export type OwnerOf<Pod extends MeasuredPod = PodRuntimeStatus> = (path: string) => CgroupOwner<Pod> | undefined;

/** The cgroup of a container's monitor process. */
const MONITOR = /conmon/;
const ID_AT_END = /(?:^|[-:])([^-:]+?)(?:\.scope)?$/;
const POD = /^pod(.+)$/;
const POD_SLICE = /-pod([^-]+)\.slice$/;

/** Builds the lookup from all pods. */
export function cgroupOwners<Pod extends MeasuredPod>(pods: readonly Pod[]): OwnerOf<Pod> {
  const byUid = new Map<string, CgroupOwner<Pod>>();
  const byId = new Map<string, CgroupOwner<Pod>>();
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
