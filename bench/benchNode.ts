/** A node to measure: a private containerd, the installed program on it, and pods that do nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findContainerd } from "../test/support/containerdInstallation.ts";
import { type Daemon, startDaemon } from "../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { type PrivateContainerd, startPrivateContainerd } from "../test/support/privateContainerd.ts";
import { buildProgram } from "./builtProgram.ts";

export interface BenchNode {
  readonly folder: string;
  readonly containerd: PrivateContainerd;
  readonly daemon: Daemon;
}

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
    const config = { maxPods: 250, cgroupsPerQOS: true, serializeImagePulls: false };
    const args = await flagsIn(folder);
    daemon = await startDaemon({ folder, endpoint, cgroupRoot: cgroupParent, main, config, args });
    await measure({ folder, containerd, daemon });
  } finally {
    await daemon?.kill("SIGTERM");
    await containerd?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A manifest of one container; by default one that waits for a signal and leaves at once when it comes. */
export const manifestOf = (name: string, container: Readonly<Record<string, unknown>> = {}): unknown => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: PAUSE_IMAGE, ...container }] },
});
