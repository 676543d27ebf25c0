/** Starts containers, takes over running ones, and records their exit. */
import fs from "node:fs";
import path from "node:path";
import { status } from "@grpc/grpc-js";
import { ContainerEventType } from "../gen/cri.ts";
import { checkWorkingDir, containerEnv, findExecutable } from "./containerEnv.ts";
import { closeInput, openStartInput } from "./containerInput.ts";
import {
  adoptContainerProcess,
  type ContainerProcess,
  startContainerProcess,
  supervisorBegan,
} from "./containerProcess.ts";
import { type CriLog, openCriLog } from "./criLog.ts";
import { killLeftExecs } from "./execProcess.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import type { LiveContainer } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

const START_FAILED = 128;

/** Returns the default working directory of a container: its own scratch directory, removed with it. */
export const scratchDir = (containerDir: string): string => path.join(containerDir, "work");

/** Returns the working directory and search path for commands of this container. */
export function launchPlace(
  runtime: Runtime,
  record: ContainerRecord,
  sandbox: SandboxRecord,
): { readonly workingDir: string; readonly searchPath: string } {
  const searchPath = Buffer.from(containerEnv(record.config, sandbox.config).get("PATH") ?? []).toString();
  return { workingDir: record.config.workingDir || scratchDir(runtime.files.containerDir(record.id)), searchPath };
}

/** Starts a created container. If the start fails, the container becomes exited with code 128 and reason StartError. */
export function startContainer(runtime: Runtime, live: LiveContainer): void {
  const { registry, events } = runtime;
  const { record } = live;
  const { id } = record;
  if (record.phase.kind !== "created") {
    throw new RpcFault(status.FAILED_PRECONDITION, `container "${id}" is ${record.phase.kind}, not created`);
  }
  const sandbox = registry.sandbox(record.sandboxId);
  if (!sandbox.ready) throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${sandbox.id}" is not ready`);
  try {
    const { workingDir, searchPath } = launchPlace(runtime, record, sandbox);
    checkWorkingDir(workingDir);
    const [name = "", ...args] = [...record.config.command, ...record.config.args];
    const command = [findExecutable(name, workingDir, searchPath), ...args];
    const log = openCriLog(record.logPath, runtime.report);
    try {
      live.process = start(runtime, live, log, command, workingDir);
      live.log = log;
    } catch (thrown) {
      log.close();
      throw thrown;
    }
  } catch (thrown) {
    const message = messageOf(thrown);
    const times = { startedAt: 0n, finishedAt: wallClockNs() };
    registry.putContainer({
      ...record,
      phase: { kind: "exited", ...times, exitCode: START_FAILED, reason: "StartError", message },
    });
    throw new RpcFault(status.UNKNOWN, `failed to start container "${id}": ${message}`);
  }
  registry.putContainer({ ...record, phase: { kind: "running", pid: live.process.pid, startedAt: wallClockNs() } });
  follow(runtime, live, live.process);
  events.emit(id, ContainerEventType.CONTAINER_STARTED_EVENT, record.sandboxId);
}

function start(
  { files, superviseFile }: Runtime,
  live: LiveContainer,
  log: CriLog,
  command: readonly string[],
  workingDir: string,
): ContainerProcess {
  const { config, id } = live.record;
  const dir = files.containerDir(id);
  const input = config.stdin ? openStartInput(dir, config.stdinOnce) : undefined;
  live.heldInput = input?.held;
  try {
    const place = { dir, log, watchers: live.watchers };
    return startContainerProcess(place, superviseFile, command, workingDir, input?.forChild);
  } catch (thrown) {
    closeInput(live);
    throw thrown;
  } finally {
    if (input !== undefined) fs.closeSync(input.forChild);
  }
}

/** Takes over a container found on disk. Resolves after the exit of a container that ended meanwhile is recorded. */
export async function adoptContainer(runtime: Runtime, live: LiveContainer): Promise<void> {
  const { registry, files } = runtime;
  const { record } = live;
  if (record.phase.kind === "exited") return;
  const dir = files.containerDir(record.id);
  await killLeftExecs(dir);
  const began =
    record.phase.kind === "running" ? { pid: record.phase.pid, at: record.phase.startedAt } : supervisorBegan(dir);
  if (began === undefined) return;
  const log = reopenedLog(runtime, record);
  const adopted = await adoptContainerProcess({ dir, log, watchers: live.watchers }, began.pid);
  live.process = adopted;
  live.log = log;
  registry.putContainer({ ...record, phase: { kind: "running", pid: began.pid, startedAt: began.at } });
  follow(runtime, live, adopted);
  if (!adopted.running()) await live.exited;
}

function reopenedLog({ report }: Runtime, { id, logPath }: ContainerRecord): CriLog {
  try {
    return openCriLog(logPath, report);
  } catch (thrown) {
    report(`container ${id}: its output is dropped until its log can be reopened: ${messageOf(thrown)}`);
    return openCriLog("", report);
  }
}

function follow(runtime: Runtime, live: LiveContainer, process: ContainerProcess): void {
  const { registry, events } = runtime;
  const finish = async (): Promise<void> => {
    const { exitCode, finishedAt } = await process.ended;
    for (const kill of live.execs) kill();
    closeInput(live);
    const { record } = live;
    const startedAt = record.phase.kind === "running" ? record.phase.startedAt : record.createdAt;
    registry.putContainer({
      ...record,
      phase: {
        kind: "exited",
        startedAt,
        // The file system clock is coarse: keep the exit after the start.
        finishedAt: finishedAt > startedAt ? finishedAt : startedAt + 1n,
        exitCode,
        reason: exitCode === 0 ? "Completed" : "Error",
        message: "",
      },
    });
    events.emit(record.id, ContainerEventType.CONTAINER_STOPPED_EVENT, record.sandboxId);
  };
  live.exited = finish().catch((thrown: unknown) => {
    runtime.report(`container ${live.record.id}: its exit could not be recorded: ${messageOf(thrown)}`);
  });
}
