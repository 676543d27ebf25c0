/** A node to measure: a private containerd, the installed program on it, and pods that do nothing. */
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Pod } from "../src/core/api.ts";
import { findContainerd } from "../test/support/containerdInstallation.ts";
import { type Daemon, startDaemon } from "../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { type PrivateContainerd, startPrivateContainerd } from "../test/support/privateContainerd.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { buildProgram } from "../test/support/builtProgram.ts";
import { removeFolder } from "../test/support/removeFolder.ts";

export interface BenchNode {
  readonly folder: string;
  readonly containerd: PrivateContainerd;
  readonly daemon: Daemon;
}

/** More than any bench starts. */
const MAX_PODS = 600;

/**
 * Runs `measure` on a fresh node and removes all of it. Exits with 1, saying what is missing, where it cannot run.
 * `flagsIn`: more flags of the daemon, whose files are below this folder. `programOf`: what to run in place of `main`.
 */
export async function onBenchNode(
  measure: (node: BenchNode) => Promise<void>,
  flagsIn: (folder: string) => Promise<readonly string[]> = () => Promise.resolve([]),
  programOf: (folder: string, main: string) => Promise<string> = (_folder, main) => Promise.resolve(main),
): Promise<void> {
  const search = findContainerd();
  if (!search.found) {
    console.error(`cannot measure here, missing: ${search.missing.join(", ")}`);
    process.exitCode = 1;
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "rxlet-bench-"));
  let containerd: PrivateContainerd | undefined;
  let daemon: Daemon | undefined;
  try {
    const main = await programOf(folder, await buildProgram(folder));
    containerd = await startPrivateContainerd(search.installation);
    const { endpoint, cgroupParent } = containerd;
    const config = { maxPods: MAX_PODS, cgroupsPerQOS: true, serializeImagePulls: false };
    const args = await flagsIn(folder);
    const env = await packagedEnvironment();
    daemon = await startDaemon({ folder, endpoint, cgroupRoot: cgroupParent, main, config, args, env });
    await measure({ folder, containerd, daemon });
  } finally {
    await daemon?.kill("SIGTERM");
    await containerd?.stop();
    await removeFolder(folder);
  }
}

/** Returns the environment variables of the packaged systemd unit. */
export async function packagedEnvironment(): Promise<Readonly<Record<string, string>>> {
  const unit = await readFile(new URL("../packaging/rxlet.service", import.meta.url), "utf8");
  return Object.fromEntries([...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

const START_MS = 300_000;
const LOOK_MS = 500;

/** Ends when so many pods of the node are as wanted; they are looked at twice a second, not to keep the node from it. */
export const untilPods = (daemon: Daemon, count: number, wanted: string, is: (pod: Pod) => boolean): Promise<unknown> =>
  waitFor(
    `${count} pods to be ${wanted}`,
    async () => {
      await pause(LOOK_MS);
      return (await daemon.pods()).filter(is).length === count;
    },
    START_MS,
  );

export const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";

/** Starts pods that do nothing, `idle-0` and on; ends when all run. */
export async function runIdlePods(daemon: Daemon, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await daemon.put(`idle-${index}.json`, manifestOf(`idle-${index}`));
  await untilPods(daemon, count, "Running", isRunning);
}

/** A manifest of one container; by default one that waits for a signal and leaves at once when it comes. */
export const manifestOf = (name: string, container: Readonly<Record<string, unknown>> = {}): unknown => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: PAUSE_IMAGE, ...container }] },
});
