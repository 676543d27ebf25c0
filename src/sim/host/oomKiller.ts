/** The OOM killer: the choice of a victim and the kernel's messages. Pure. */
import type { SimHostProcess } from "./simProcesses.ts";

/** A kill by the OOM killer. */
export interface OomKill {
  readonly victim: SimHostProcess;
  /** A cgroup over its own limit, or the whole machine. */
  readonly constraint: "memcg" | "none";
}

const NEVER_KILLED = -1000;
const KIB = 1024;

const badness = (process: SimHostProcess, capacityBytes: number): number =>
  (process.memoryBytes / capacityBytes) * 1000 + process.oomScoreAdj;

/** Returns the next victim: a process over the limit of its cgroup, else the worst one if the machine is full. */
export function nextOomKill(processes: readonly SimHostProcess[], capacityBytes: number): OomKill | undefined {
  const overLimit = processes.find(
    ({ memoryBytes, memoryLimitBytes }) => memoryLimitBytes > 0 && memoryBytes > memoryLimitBytes,
  );
  if (overLimit !== undefined) return { victim: overLimit, constraint: "memcg" };
  const used = processes.reduce((total, { memoryBytes }) => total + memoryBytes, 0);
  if (used <= capacityBytes) return undefined;
  const worstFirst = processes
    .filter(({ oomScoreAdj, memoryBytes }) => oomScoreAdj > NEVER_KILLED && memoryBytes > 0)
    .toSorted((a, b) => badness(b, capacityBytes) - badness(a, capacityBytes));
  const [victim] = worstFirst;
  return victim === undefined ? undefined : { victim, constraint: "none" };
}

/** Returns the kernel's log messages of a kill, in the form that log readers parse. */
export function oomMessages({ victim, constraint }: OomKill): readonly string[] {
  const { name, pid, cgroup, memoryBytes, oomScoreAdj } = victim;
  const kib = Math.round(memoryBytes / KIB);
  const scope = constraint === "memcg" ? `oom_memcg=${cgroup}` : "global_oom";
  const head = constraint === "memcg" ? "Memory cgroup out of memory" : "Out of memory";
  return [
    `${name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=${oomScoreAdj}`,
    `oom-kill:constraint=CONSTRAINT_${constraint.toUpperCase()},nodemask=(null),cpuset=/,mems_allowed=0,${scope},` +
      `task_memcg=${cgroup},task=${name},pid=${pid},uid=0`,
    `${head}: Killed process ${pid} (${name}) total-vm:${kib}kB, anon-rss:${kib}kB, file-rss:0kB, shmem-rss:0kB, ` +
      `UID:0 pgtables:0kB oom_score_adj:${oomScoreAdj}`,
  ];
}
