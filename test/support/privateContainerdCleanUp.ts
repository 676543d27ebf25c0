/** Removes the leftovers of a private containerd by its own records. Safe to repeat, with or without its process. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findProgram } from "./findProgram.ts";
import { removeHostPorts } from "./hostPorts.ts";
import {
  cgroupFolders,
  isAlive,
  kill,
  mountsBelow,
  processesInCgroup,
  removeCgroup,
  shimsOf,
  unmountBelow,
} from "./kernelState.ts";
import { waitFor } from "./waitFor.ts";

/** State to clean up, as recorded in STATE_FILE of the private directory. */
export interface PrivateState {
  /** The test process. */
  readonly ownerPid: number;
  readonly daemonPid: number;
  /** Process of a daemon that uses this one, and has to end first. */
  readonly userPid?: number;
  readonly folder: string;
  readonly socket: string;
  readonly bridge: string;
  /** Cgroup above all pods, `/name`. */
  readonly cgroup: string;
}

export const FOLDER_PREFIX = join(tmpdir(), "rxlet-containerd-");
export const STATE_FILE = "private.json";

/** Ends processes and removes mounts, cgroups, network and files. Rejects, naming it, if something stays. */
export async function cleanUp(state: PrivateState): Promise<void> {
  const { folder, socket, cgroup, bridge } = state;
  const daemons = [state.userPid ?? 0, state.daemonPid].filter((pid) => pid > 0);
  for (const pid of daemons) if (isDaemonOf(pid, folder)) kill(pid);
  const outside = filesElsewhere(state);
  await waitFor("the daemon, its shims and containers to end", () => {
    const alive = [...shimsOf(socket), ...processesInCgroup(cgroup)];
    alive.forEach(kill);
    return alive.length === 0 && !daemons.some((pid) => isDaemonOf(pid, folder));
  });
  await waitFor(`mounts below ${folder} to go`, () => {
    unmountBelow(folder);
    return mountsBelow(folder).length === 0;
  });
  await waitFor(`cgroup ${cgroup} to go`, () => {
    removeCgroup(cgroup);
    return cgroupFolders(cgroup).length === 0;
  });
  removeHostPorts(bridge);
  await waitFor(`bridge ${bridge} to go`, () => {
    if (!existsSync(`/sys/class/net/${bridge}`)) return true;
    execFileSync(findProgram("ip") ?? "ip", ["link", "delete", bridge], { stdio: "ignore" });
    return false;
  });
  for (const file of outside) rmSync(file, { force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** Lists files that shims and CNI write outside the private directory despite the configuration: sockets and result caches. */
function filesElsewhere({ folder, bridge }: PrivateState): readonly string[] {
  const bundles = globSync(`${folder}/state/io.containerd.runtime.v2.task/*/*`);
  // 1.x writes the address alone, 2.x a document with it.
  const sockets = bundles
    .flatMap((bundle) => globSync([join(bundle, "address"), join(bundle, "bootstrap.json")]))
    .flatMap((file) => /unix:\/\/([^"\s]+)/.exec(readFileSync(file, "utf8"))?.[1] ?? []);
  const caches = bundles.flatMap((bundle) => globSync(`/var/lib/cni/*/cni-loopback-${basename(bundle)}-*`));
  return [...sockets, ...caches, ...globSync(`/var/lib/cni/*/${bridge}*`)];
}

/** Cleans up after test processes that were killed before they could. */
export async function sweepAbandoned(): Promise<void> {
  for (const state of privateStates()) if (!isAlive(state.ownerPid)) await cleanUp(state);
}

/** All private containerds of this machine, dead or alive. */
function privateStates(): readonly PrivateState[] {
  return globSync(`${FOLDER_PREFIX}*/${STATE_FILE}`).flatMap((file) => {
    try {
      return [JSON.parse(readFileSync(file, "utf8")) as PrivateState];
    } catch {
      return []; // Just being written, or just being removed.
    }
  });
}

/** Process ids are used again: the command line tells whether this one is still ours. */
function isDaemonOf(pid: number, folder: string): boolean {
  try {
    return isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
  } catch {
    return false;
  }
}
