/** Processes of the machine: their cgroups, and the limits of this process. */
import type { Call } from "./call.ts";

export interface Processes {
  /** Process ID of the kubelet. */
  readonly ownPid: number;
  /** Whether the process is in the PID namespace of process 1. */
  isOnHost(pid: number): Call<boolean>;
  /** Returns the cgroup of a process. Errors: InvalidArgument if its CPU and memory cgroups differ. */
  cgroupOf(pid: number): Call<string>;
  /** Returns the processes in the root cgroup except process 1 and kernel threads; a bounded number. */
  inRootCgroup(): Call<readonly number[]>;
  /** Moves a process to a cgroup, by its absolute name; creates the cgroup. */
  move(pid: number, cgroup: string): Call<void>;
  setOomScoreAdj(pid: number, value: number): Call<void>;
  /** Sets the soft and the hard limit on open files. */
  setMaxOpenFiles(pid: number, count: number): Call<void>;
}
