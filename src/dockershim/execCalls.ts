/**
 * Commands in containers. Docker cannot end a command: one that has to end is killed by its process id, as long as the
 * kernel says that the process is one of the container.
 */
import { readFile } from "node:fs/promises";
import { status } from "@grpc/grpc-js";
import type { ExecSyncRequest, ExecSyncResponse } from "../gen/cri.ts";
import { within } from "../criServer/within.ts";
import { invalidArgument, RpcFault } from "../grpcServer/rpcFault.ts";
import { demultiplex } from "./engine/demultiplex.ts";
import type { Engine, Hijacked } from "./engine/engine.ts";
import { fieldsOf, numberOf, textOf } from "./engine/fields.ts";
import type { Shim } from "./shim.ts";

/** Bound for stdout and stderr together: 16 MiB minus space for the rest of the message. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024 - 64 * 1024;
const SECOND_MS = 1000;
/** Docker may close the streams a moment before it knows the exit code. */
const EXIT_LOOKS = 50;
const EXIT_LOOK_MS = 100;

/** The streams that a command has. */
export interface ExecStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** A started command. */
export interface StartedExec extends Hijacked {
  readonly id: string;
}

/** Creates a command, which `startExec` starts. Rejects with FAILED_PRECONDITION unless the container runs. */
export async function createExec(
  { docker }: Shim,
  containerId: string,
  command: readonly string[],
  streams: ExecStreams,
): Promise<string> {
  if (command.length === 0) throw invalidArgument("cmd", "is required");
  const { id, running } = await docker.inspect("container", containerId);
  if (!running) throw new RpcFault(status.FAILED_PRECONDITION, `container "${id}" is not running`);
  const answer = await docker.engine.call({
    method: "POST",
    path: `/containers/${id}/exec`,
    body: {
      Cmd: command,
      AttachStdin: streams.stdin,
      AttachStdout: streams.stdout,
      AttachStderr: streams.stderr,
      Tty: streams.tty,
    },
  });
  return textOf(fieldsOf(answer), "Id");
}

/** Starts a command and connects its streams. */
export async function startExec(engine: Engine, id: string, tty: boolean, signal?: AbortSignal): Promise<StartedExec> {
  const hijacked = await engine.hijack({
    method: "POST",
    path: `/exec/${encodeURIComponent(id)}/start`,
    body: { Detach: false, Tty: tty },
    signal,
  });
  return { ...hijacked, id };
}

interface ExecState {
  readonly running: boolean;
  readonly exitCode: number;
  readonly pid: number;
  readonly containerId: string;
}

async function stateOf(engine: Engine, id: string): Promise<ExecState> {
  const fields = fieldsOf(await engine.call({ method: "GET", path: `/exec/${encodeURIComponent(id)}/json` }));
  return {
    running: fields["Running"] === true,
    exitCode: numberOf(fields, "ExitCode"),
    pid: numberOf(fields, "Pid"),
    containerId: textOf(fields, "ContainerID"),
  };
}

/** Returns the exit code of a command whose streams have ended. */
export async function exitCodeOf(engine: Engine, id: string): Promise<number> {
  for (let look = 0; look < EXIT_LOOKS; look++) {
    const { running, exitCode } = await stateOf(engine, id);
    if (!running) return exitCode;
    await within(EXIT_LOOK_MS, new Promise(() => undefined));
  }
  throw new RpcFault(status.UNKNOWN, `docker: the streams of command ${id} have ended, but the command has not`);
}

/** Kills a command that still runs. */
export async function killExec(engine: Engine, id: string): Promise<void> {
  const { running, pid, containerId } = await stateOf(engine, id);
  if (!running || pid <= 1 || containerId === "") return;
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  if (!cgroups.includes(containerId)) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended meanwhile, or is not ours to end.
  }
}

/** Runs a command to its end. Rejects with DEADLINE_EXCEEDED at its timeout, CANCELLED where the client has gone. */
export async function execSync(shim: Shim, request: ExecSyncRequest, signal: AbortSignal): Promise<ExecSyncResponse> {
  const { containerId, cmd, timeout } = request;
  if (timeout < 0n) throw invalidArgument("timeout", `${timeout} is negative`);
  const { engine } = shim.docker;
  const id = await createExec(shim, containerId, cmd, { stdin: false, stdout: true, stderr: true, tty: false });
  const { socket } = await startExec(engine, id, false, signal);
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let left = MAX_OUTPUT_BYTES;
  const output = demultiplex(socket, (stream, piece) => {
    const kept = piece.subarray(0, left);
    left -= kept.length;
    if (kept.length > 0) pieces[stream].push(Buffer.from(kept));
  });
  output.catch(() => undefined);
  try {
    const timeoutMs = timeout === 0n ? Infinity : Number(timeout) * SECOND_MS;
    if (!(await within(timeoutMs, output, signal))) {
      await killExec(engine, id);
      if (signal.aborted) throw new RpcFault(status.CANCELLED, "exec: cancelled by the client; the command was killed");
      const command = JSON.stringify(cmd).slice(0, 1024);
      throw new RpcFault(status.DEADLINE_EXCEEDED, `exec: ${command}: timeout ${timeoutMs} ms exceeded; killed`);
    }
    await output;
    const exitCode = await exitCodeOf(engine, id);
    return { stdout: Buffer.concat(pieces.stdout), stderr: Buffer.concat(pieces.stderr), exitCode };
  } finally {
    socket.destroy();
  }
}
