/**
 * Parses the cgroup of a process and the processes of a cgroup. Upstream: getContainer and ensureSystemCgroups of
 * pkg/kubelet/cm/container_manager_linux.go.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Processes that one round moves; the next round takes the others. */
const MAX_PIDS = 4096;

/**
 * Parses `cgroup.procs` of the root cgroup: process IDs without process 1. The kernel writes 0 for a process of another
 * PID namespace, which has no ID here. At most MAX_PIDS.
 */
export const movablePids = (procs: string): readonly number[] => {
  const pids = procs.split("\n").flatMap((line) => (/^\d{1,10}$/.test(line) ? [Number(line)] : []));
  return [...new Set(pids)].filter((pid) => pid > 1).slice(0, MAX_PIDS);
};

/**
 * Parses the cgroup of a process from `/proc/PID/cgroup`: on cgroup v1 that of systemd, if there is one. CPU and memory
 * have to be in the same cgroup, because it accounts for both.
 */
export function accountedCgroup(text: string, version: 1 | 2): Result<string> {
  const paths = new Map<string, string>();
  for (const [, controllers = "", path = ""] of text.matchAll(/^\d+:([^:]*):(.*)$/gm)) {
    for (const controller of controllers.split(",")) paths.set(controller, path);
  }
  if (version === 2) return pathOf(paths, "");
  const [cpu, memory] = [pathOf(paths, "cpu"), pathOf(paths, "memory")];
  if (!cpu.ok) return cpu;
  if (!memory.ok) return memory;
  if (cpu.value === memory.value) return ok(paths.get("name=systemd") ?? cpu.value);
  const message = `cpu and memory cgroup hierarchy not unified.  cpu: ${cpu.value}, memory: ${memory.value}`;
  return err(kubeletError("InvalidArgument", message));
}

function pathOf(paths: ReadonlyMap<string, string>, controller: string): Result<string> {
  const path = paths.get(controller);
  if (path !== undefined) return ok(path);
  return err(kubeletError("NotFound", `the process has no cgroup of ${controller || "the unified hierarchy"}`));
}
