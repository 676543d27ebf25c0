/**
 * ExecSync: returns the complete output of a command. Processes it leaves behind are killed with it, on timeout, on
 * cancellation by the client and when the container exits. Bound: the response stays below the gRPC message limit;
 * excess output is dropped, as in containerd.
 */
import type { Readable } from "node:stream";
import { status } from "@grpc/grpc-js";
import type { ExecSyncResponse } from "../gen/cri.ts";
import { type ExecPlace, startExec } from "./execProcess.ts";
import { RpcFault } from "../grpcServer/rpcFault.ts";
import { within } from "../criServer/within.ts";

/** Bound for stdout and stderr together: 16 MiB minus space for the rest of the message. */
export const MAX_EXEC_OUTPUT_BYTES = 16 * 1024 * 1024 - 64 * 1024;
/** Time to drain the output of an exited command. */
const DRAIN_MS = 500;

/**
 * Runs the command; `timeoutMs` 0 disables the timeout. Throws DEADLINE_EXCEEDED on timeout, CANCELLED if `signal`
 * aborts.
 */
export async function execSync(place: ExecPlace, timeoutMs: number, signal: AbortSignal): Promise<ExecSyncResponse> {
  const { child, exited, closed, kill, release } = await startExec(place, "ignore");
  try {
    const budget = { left: MAX_EXEC_OUTPUT_BYTES };
    const stdout = collect(child.stdout, budget);
    const stderr = collect(child.stderr, budget);
    const inTime = await within(timeoutMs === 0 ? Infinity : timeoutMs, exited, signal);
    kill();
    if (!inTime && signal.aborted)
      throw new RpcFault(status.CANCELLED, "exec: cancelled by the client; the command was killed");
    if (!inTime) {
      const command = JSON.stringify(place.command);
      throw new RpcFault(status.DEADLINE_EXCEEDED, `exec: ${command}: timeout ${timeoutMs} ms exceeded; killed`);
    }
    const exitCode = await exited;
    await within(DRAIN_MS, closed);
    return { stdout: stdout(), stderr: stderr(), exitCode };
  } finally {
    release();
  }
}

function collect(stream: Readable, budget: { left: number }): () => Buffer {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, budget.left);
    budget.left -= kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  return () => Buffer.concat(chunks);
}
