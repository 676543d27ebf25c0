/** The node as the bare client sees it. */
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { runProgram } from "../src/cli/program.ts";
import { kubeletConfigOf } from "../src/commands/kubeletConfigOf.ts";
import type { NodeContext } from "../src/core/container/nodeContext.ts";
import { nodeContext } from "../src/pipelines/node/createNodeContext.ts";
import { readMachine } from "../src/sources/machine.ts";
import { createNodeState } from "../src/state/nodeState.ts";
import type { BenchNode } from "./benchNode.ts";

/**
 * The node context of the bare client, read from the daemon's configuration file. The folders of its pods are apart: the
 * daemon removes those in its own root directory that belong to no pod.
 */
export async function bareContext({ folder, daemon }: BenchNode): Promise<NodeContext> {
  const args = ["--config", join(folder, "config.json"), "--root-dir", join(folder, "bare")];
  const invocation = await runProgram([...args, "--hostname-override", daemon.nodeName], { version: "bench" });
  if (invocation.command !== "kubelet") throw new Error(JSON.stringify(invocation));
  const machine = await firstValueFrom(readMachine());
  return nodeContext(kubeletConfigOf(invocation.options, machine, "bench"), machine, createNodeState(), true);
}
