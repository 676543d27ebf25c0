/** Events of the kernel that concern memory. */
import type { Observable } from "rxjs";

/**
 * The kernel's notice that memory is short: a reason to measure, never a figure. `limit`: the cgroup reached a limit, or
 * the kernel killed a process of it. `stall`: tasks of the machine waited for memory.
 */
export type MemoryEvent = "limit" | "stall";

/** The events of the machine and of the cgroup at a path, `/kubepods`. Neither errors nor completes. */
export type MemoryEvents = (cgroupPath: string) => Observable<MemoryEvent>;
