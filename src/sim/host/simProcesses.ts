/**
 * Processes of a simulated machine: ids, memory and threads of containers and of everything else that runs. Owns the
 * table; its bound is the largest process id.
 */
export interface SimHostProcess {
  readonly pid: number;
  readonly name: string;
  /** Absolute; "/" for what runs beside the containers. */
  readonly cgroup: string;
  readonly memoryBytes: number;
  /** Threads; each has an id of its own. */
  readonly tasks: number;
  /** -1000 (never killed) to 1000. */
  readonly oomScoreAdj: number;
  /** Of its cgroup; 0 for none. */
  readonly memoryLimitBytes: number;
}

/** What a process is when it starts. */
export type SimProcessStart = Pick<SimHostProcess, "name"> & Partial<Omit<SimHostProcess, "pid" | "name">>;

export interface SimProcesses {
  /** Oldest first. */
  all(): readonly SimHostProcess[];
  start(process: SimProcessStart): number;
  /** Changes what a running process uses; one that is gone is left alone. */
  change(pid: number, usage: Partial<Pick<SimHostProcess, "memoryBytes" | "tasks">>): void;
  end(pid: number): void;
  /** Ends all; ids start anew. */
  boot(): void;
  readonly memoryBytes: number;
  readonly tasks: number;
}

const FIRST_PID = 1_000;

/** Makes an empty table; `onGrowth` is called when something started, or uses more. Ids are given again after `maxPids`. */
export function createSimProcesses(maxPids: number, onGrowth: () => void): SimProcesses {
  const table = new Map<number, SimHostProcess>();
  let next = FIRST_PID;
  const sum = (what: "memoryBytes" | "tasks"): number =>
    [...table.values()].reduce((total, process) => total + process[what], 0);
  const freePid = (): number => {
    while (table.has(next)) next = next + 1 >= maxPids ? FIRST_PID : next + 1;
    const pid = next;
    next = next + 1 >= maxPids ? FIRST_PID : next + 1;
    return pid;
  };
  return {
    all: () => [...table.values()],
    start(process) {
      const pid = freePid();
      const usual = { cgroup: "/", memoryBytes: 0, tasks: 1, oomScoreAdj: 0, memoryLimitBytes: 0 };
      table.set(pid, { ...usual, ...process, pid });
      onGrowth();
      return pid;
    },
    change(pid, usage) {
      const process = table.get(pid);
      if (process === undefined) return;
      table.set(pid, { ...process, ...usage });
      onGrowth();
    },
    end: (pid) => void table.delete(pid),
    boot() {
      table.clear();
      next = FIRST_PID;
    },
    get memoryBytes() {
      return sum("memoryBytes");
    },
    get tasks() {
      return sum("tasks");
    },
  };
}
