/**
 * Processes of simulated containers. A process ends once, at the earliest of its scheduled ends: its own exit, a
 * signal, the OOM killer, or the simulation. Owns one pending action per process that will end or grow.
 */
import { ReplaySubject, Subscription } from "rxjs";
import { ContainerEventType } from "../../gen/cri.ts";
import type { SimFileExtent } from "../host/simPaths.ts";
import type { SimProcessStart } from "../host/simProcesses.ts";
import type { SimExit, SimProgram } from "./simProgram.ts";
import type { SimContainer, SimEnd } from "./simRecords.ts";
import type { SimWorld } from "./simWorld.ts";

/** Default exit after TERM. */
export const DEFAULT_TERM: SimExit = { afterMs: 5, code: 143 };
/** Exit after KILL, including the time until containerd notices. */
export const KILLED: SimExit = { afterMs: 2, code: 137 };
/** The same, with the reason of the OOM killer. */
const OOM_KILLED: SimEnd = { ...KILLED, reason: "OOMKilled" };

/**
 * Returns the host path of a container's termination message file, from its last matching mount; undefined without
 * one.
 */
function terminationMessageFile({ config }: SimContainer): string | undefined {
  const path = config.annotations["io.kubernetes.container.terminationMessagePath"];
  return config.mounts.findLast(({ containerPath }) => containerPath === path)?.hostPath;
}

/** Writes a file of the host. */
export type WriteHostFile = (path: string, content: string, extent?: SimFileExtent) => void;

/** Directories of emptyDirs, and of parts of volumes: pods of the simulation mount parts of emptyDirs only. */
const WRITABLE = /\/(?:kubernetes\.io~empty-dir|volume-subpaths)\//;

/**
 * Returns the host path of the file that the program of a container writes: in the last emptyDir, because those in
 * memory come first. Undefined without an emptyDir.
 */
function writtenFile({ config }: SimContainer): string | undefined {
  const directory = config.mounts.findLast(({ hostPath }) => WRITABLE.test(hostPath))?.hostPath;
  return directory === undefined ? undefined : `${directory}/written-by-${config.metadata?.name}`;
}

/** Carries out steps at their times; owns one pending action. */
function oneByOne<T extends { readonly afterMs: number }>(
  { scheduler }: SimWorld["clock"],
  steps: readonly T[] | undefined,
  take: (step: T) => void,
): Subscription {
  const pending = new Subscription();
  const next = (index: number, passedMs: number): void => {
    const step = steps?.[index];
    if (step === undefined) return;
    const action = scheduler.schedule(() => {
      pending.remove(action);
      take(step);
      if (!pending.closed) next(index + 1, step.afterMs);
    }, step.afterMs - passedMs);
    pending.add(action);
  };
  next(0, 0);
  return pending;
}

/** Starts a process for a created container, which is running on return. */
export function startProcess(
  world: SimWorld,
  container: SimContainer,
  program: SimProgram,
  writeHostFile: WriteHostFile,
): void {
  const { clock, containers, processes } = world;
  const ended = new ReplaySubject<void>(1);
  const startedAt = world.stampNs();
  let endsAtMs = Infinity;
  let ending: Subscription | undefined;

  const end = ({ code, reason = code === 0 ? "Completed" : "Error" }: SimEnd) => {
    const { id } = container;
    const record = containers.get(id) ?? container;
    const messageFile = terminationMessageFile(record);
    if (program.terminationMessage !== undefined && messageFile !== undefined) {
      writeHostFile(messageFile, program.terminationMessage);
    }
    processes.delete(id);
    world.host.processes.end(pid);
    growth.unsubscribe();
    writing.unsubscribe();
    const finishedAt = world.stampNs();
    const exited: SimContainer = {
      ...record,
      phase: { kind: "exited", startedAt, finishedAt, exitCode: code, reason, message: "" },
    };
    containers.set(id, exited);
    world.containerChanged("container exited", exited, ContainerEventType.CONTAINER_STOPPED_EVENT);
    ended.next();
    ended.complete();
  };
  const endAfter = (how: SimEnd) => {
    const atMs = clock.monotonicMs() + how.afterMs;
    if (atMs >= endsAtMs) return;
    endsAtMs = atMs;
    ending?.unsubscribe();
    ending = clock.scheduler.schedule(() => end(how), how.afterMs);
  };

  const pid = world.host.processes.start(hostProcess(world, container, program), () => endAfter(OOM_KILLED));
  const growth = oneByOne(clock, program.grows, ({ afterMs: _, ...usage }) => world.host.processes.change(pid, usage));
  const file = writtenFile(container);
  const writing = oneByOne(clock, file === undefined ? [] : program.writes, ({ bytes, files = 1 }) =>
    writeHostFile(file ?? "", "", { moreBytes: bytes, moreInodes: files - 1 }),
  );

  const running: SimContainer = { ...container, phase: { kind: "running", startedAt } };
  containers.set(container.id, running);
  processes.set(container.id, {
    program,
    pid,
    ended$: ended.asObservable(),
    endAfter,
    endNow(how) {
      endsAtMs = -Infinity;
      ending?.unsubscribe();
      end(how);
    },
    term() {
      const { onTerm = DEFAULT_TERM } = program;
      if (onTerm !== "ignored") endAfter(onTerm);
    },
    kill: () => endAfter(program.onKill ?? KILLED),
  });
  const logDirectory = world.sandboxes.get(container.sandboxId)?.config.logDirectory ?? "";
  const { logPath } = container.config;
  if (logDirectory !== "" && logPath !== "") writeHostFile(`${logDirectory}/${logPath}`, "");
  world.containerChanged("container started", running, ContainerEventType.CONTAINER_STARTED_EVENT);
  if (program.exits !== undefined) endAfter(program.exits);
}

/** Returns a container as a process of its machine. */
function hostProcess(world: SimWorld, container: SimContainer, { usage }: SimProgram): SimProcessStart {
  const { id, sandboxId, config, resources } = container;
  const parent = world.sandboxes.get(sandboxId)?.config.linux?.cgroupParent ?? "";
  return {
    name: config.metadata?.name ?? id,
    cgroup: `${parent}/${id}`,
    memoryBytes: usage?.memoryBytes ?? 0,
    tasks: usage?.tasks ?? 1,
    oomScoreAdj: Number(resources?.oomScoreAdj ?? 0n),
    memoryLimitBytes: Number(resources?.memoryLimitInBytes ?? 0n),
  };
}
