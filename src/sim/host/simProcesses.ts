/**
 * Processes of a simulated machine: ids, memory and threads of containers and all other programs. Owns the table.
 * Bound: the largest process id.
 */
export interface SimHostProcess {
  readonly pid: number;
  readonly name: string;
  /** Absolute path; "/" for processes outside of containers. */
  readonly cgroup: string;
  readonly memoryBytes: number;
  /** Number of threads; each has an id of its own. */
  readonly tasks: number;
  /** Range: -1000 (never killed) to 1000. */
  readonly oomScoreAdj: number;
  /** Memory limit of its cgroup; 0 for none. */
  readonly memoryLimitBytes: number;
}

/** The properties of a new process. */
export type SimProcessStart = Pick<SimHostProcess, "name"> & Partial<Omit<SimHostProcess, "pid" | "name">>;

export interface SimProcesses {
  /** Returns all processes, oldest first. */
  all(): readonly SimHostProcess[];
  /** Returns a process; undefined if it has ended. */
  get(pid: number): SimHostProcess | undefined;
  /** Starts a process and returns its id; `killed` is called when the kernel kills it. */
  start(process: SimProcessStart, killed?: () => void): number;
  /** Changes the usage or limits of a running process; ignored if it has ended. */
  change(pid: number, usage: Partial<Pick<SimHostProcess, "memoryBytes" | "memoryLimitBytes" | "tasks">>): void;
  /** Removes a process that exited on its own. */
  end(pid: number): void;
  /** Kills a process as the kernel does. */
  kill(pid: number): void;
  /** Removes all processes without notification, and resets the ids. */
  boot(): void;
  readonly memoryBytes: number;
  readonly tasks: number;
}

const FIRST_PID = 1_000;

/** Default number of process ids of a machine. */
export const DEFAULT_MAX_PIDS = 32_768;

/**
 * Creates an empty table. `onGrowth` is called when a process started, uses more, or has a lower limit, `onEnd` when
 * one ended. Ids are reused after `maxPids`.
 */
export function createSimProcesses(
  maxPids = DEFAULT_MAX_PIDS,
  onGrowth: () => void = () => {},
  onEnd: (process: SimHostProcess) => void = () => {},
): SimProcesses {
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
    const process = table.get(pid);
    table.delete(pid);
    killed.delete(pid);
    if (process !== undefined) onEnd(process);
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
      const onKill = killed.get(pid);
      forget(pid);
      onKill?.();
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
