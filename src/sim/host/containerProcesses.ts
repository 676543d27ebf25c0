/** Containers of a simulated runtime as processes of the simulated machine: what their programs use counts there. */
import type { Subscription } from "rxjs";
import type { SimProgram, SimPrograms } from "../simProgram.ts";
import type { SimChange, SimContainer } from "../simRecords.ts";
import type { SimRuntime } from "../simRuntime.ts";
import type { SimProcesses } from "./simProcesses.ts";

export interface ContainerProcesses {
  /** The same programs, remembered by the container they run in. */
  observed(programs: SimPrograms): SimPrograms;
  /** Follows a runtime: its containers start and end processes. */
  follow(runtime: SimRuntime): Subscription;
  /** The container of a process; undefined when it is none's. */
  containerOf(pid: number): string | undefined;
  pidOf(containerId: string): number | undefined;
  /** Its process is gone before the runtime says so. */
  forget(containerId: string): void;
  /** All are. */
  boot(): void;
}

const keyOf = (podUid: string | undefined, name: string | undefined, attempt: number | undefined): string =>
  `${podUid}/${name}/${attempt}`;

/** Makes the table between containers and processes; bound: the containers that run. */
export function createContainerProcesses(processes: SimProcesses): ContainerProcesses {
  const programs = new Map<string, SimProgram>();
  const pids = new Map<string, number>();
  const programOf = (runtime: SimRuntime, { config, sandboxId }: SimContainer): SimProgram => {
    const sandbox = runtime.sandboxes().find(({ id }) => id === sandboxId);
    const key = keyOf(sandbox?.config.metadata?.uid, config.metadata?.name, config.metadata?.attempt);
    const program = programs.get(key) ?? {};
    programs.delete(key);
    return program;
  };
  const started = (runtime: SimRuntime, id: string) => {
    const container = runtime.containers().find((each) => each.id === id);
    if (container === undefined) return;
    const { config } = container;
    const linux = config.linux?.resources;
    const program = programOf(runtime, container);
    // The growth of the table may end the process at once: its id has to be known before.
    const pid = processes.start({
      name: config.metadata?.name ?? id,
      cgroup: `/kubepods/${id}`,
      oomScoreAdj: Number(linux?.oomScoreAdj ?? 0n),
      memoryLimitBytes: Number(linux?.memoryLimitInBytes ?? 0n),
    });
    pids.set(id, pid);
    processes.change(pid, { memoryBytes: program.usage?.memoryBytes ?? 0 });
  };
  const ended = (id: string) => {
    const pid = pids.get(id);
    if (pid !== undefined) processes.end(pid);
    pids.delete(id);
  };
  return {
    observed: (inner) => (input) => {
      const program = inner(input);
      const { metadata } = input.container;
      const key = keyOf(input.sandbox.metadata?.uid, metadata?.name, metadata?.attempt);
      if (program.failsToStart === undefined) programs.set(key, program);
      return program;
    },
    follow: (runtime) =>
      runtime.changes$.subscribe({
        next({ kind, id }: SimChange) {
          if (kind === "container started") started(runtime, id);
          if (kind === "container exited") ended(id);
        },
      }),
    containerOf: (pid) => [...pids].find(([, each]) => each === pid)?.[0],
    pidOf: (id) => pids.get(id),
    forget: (id) => void pids.delete(id),
    boot: () => pids.clear(),
  };
}
