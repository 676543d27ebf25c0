/**
 * Whose cgroup a path is. Runtimes name those of containers and sandboxes after their id, within the pod's: `<id>`, or
 * `cri-containerd-<id>.scope` with systemd. Counterpart: cadvisor's container factories, GetPodByCgroupfs.
 */
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../runtime/podRuntimeStatus.ts";

/** A pod, its sandbox, or one of its containers. */
export interface CgroupOwner {
  readonly pod: PodRuntimeStatus;
  readonly sandbox?: RuntimeSandbox;
  readonly container?: RuntimeContainer;
}

/** The owner of a cgroup by its path; undefined for those of the node and of nobody we know. */
export type OwnerOf = (path: string) => CgroupOwner | undefined;

/** Not a container but what watches one. */
const MONITOR = /conmon/;
const ID_AT_END = /(?:^|[-:])([^-:]+?)(?:\.scope)?$/;
const POD = /^pod(.+)$/;
const POD_SLICE = /-pod([^-]+)\.slice$/;

/** Of everything that ran when it was last inspected. */
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
