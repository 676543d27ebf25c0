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
  /** Memory limit of its cgroup; 0 for none. */
  readonly memoryLimitBytes: number;
}

/** What a process is when it starts. */
export type SimProcessStart = Pick<SimHostProcess, "name"> & Partial<Omit<SimHostProcess, "pid" | "name">>;

export interface SimProcesses {
  /** Oldest first. */
  all(): readonly SimHostProcess[];
  /** Undefined for one that is gone. */
  get(pid: number): SimHostProcess | undefined;
  /** Starts one; `killed` is called when the kernel ends it. Answers its id. */
  start(process: SimProcessStart, killed?: () => void): number;
  /** Changes what a running process uses, or may use; one that is gone is left alone. */
  change(pid: number, usage: Partial<Pick<SimHostProcess, "memoryBytes" | "memoryLimitBytes">>): void;
  /** It has ended by itself. */
  end(pid: number): void;
  /** The kernel ends it. */
  kill(pid: number): void;
  /** All have gone, and nobody is told; ids start anew. */
  boot(): void;
  readonly memoryBytes: number;
  readonly tasks: number;
}

const FIRST_PID = 1_000;

/** Process ids of a machine, unless it says otherwise. */
export const DEFAULT_MAX_PIDS = 32_768;

/**
 * Makes an empty table; `onGrowth` is called when something started, uses more or may use less. Ids are given again after
 * `maxPids`.
 */
export function createSimProcesses(maxPids = DEFAULT_MAX_PIDS, onGrowth: () => void = () => {}): SimProcesses {
  const table = new Map<number, SimHostProcess>();
  const killed = new Map<number, () => void>();
  let next = FIRST_PID;
  const sum = (what: "memoryBytes" | "tasks"): number =>
    [...table.values()].reduce((total, process) => total + process[what], 0);
  const freePid = (): number => {
    while (table.has(next)) next = next + 1 >= maxPids ? FIRST_PID : next + 1;
    const pid = next;
    next = next + 1 >= maxPids ? FIRST_PID : next + 1;
    return pid;
  };
  const forget = (pid: number): void => {
    table.delete(pid);
    killed.delete(pid);
  };
  return {
    all: () => [...table.values()],
    get: (pid) => table.get(pid),
    start(process, whenKilled) {
      const pid = freePid();
      const usual = { cgroup: "/", memoryBytes: 0, tasks: 1, oomScoreAdj: 0, memoryLimitBytes: 0 };
      table.set(pid, { ...usual, ...process, pid });
      if (whenKilled !== undefined) killed.set(pid, whenKilled);
      onGrowth();
      return pid;
    },
    change(pid, usage) {
      const process = table.get(pid);
      if (process === undefined) return;
      table.set(pid, { ...process, ...usage });
      onGrowth();
    },
    end: forget,
    kill(pid) {
      const tell = killed.get(pid);
      forget(pid);
      tell?.();
    },
    boot() {
      table.clear();
      killed.clear();
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
