/** Programs of simulated containers: behaviour as data, chosen per container by a function of its config. */
import type { ContainerConfig, PodSandboxConfig } from "../../gen/cri.ts";

/** The end of a process: a delay and an exit code. */
export interface SimExit {
  readonly afterMs: number;
  readonly code: number;
}

/** The behaviour of a program. */
export interface SimProgram {
  /** Delay from the start; undefined: it runs until it is stopped. */
  readonly exits?: SimExit;
  /** Delay from the signal; default: code 143 after 5 ms. `ignored`: only KILL ends it. */
  readonly onTerm?: SimExit | "ignored";
  /** Delay from the signal; default: code 137 after 2 ms. Longer for a process in uninterruptible sleep. */
  readonly onKill?: SimExit;
  /** The start fails with this message, as for a missing program. */
  readonly failsToStart?: string;
  /** Written to the termination message file on exit. */
  readonly terminationMessage?: string;
  /** The result of a command run inside; default: code 0 at once, without output. */
  exec?(command: readonly string[]): SimExec;
  readonly usage?: SimUsage;
  /** Changes of its usage, in order of time. */
  readonly grows?: readonly SimGrowth[];
  /** Writes to the last emptyDir that the container mounts, in order of time. */
  readonly writes?: readonly SimWrite[];
}

/** Usage from a delay after the start. */
export interface SimGrowth {
  readonly afterMs: number;
  readonly memoryBytes: number;
  /** Default: as before. */
  readonly tasks?: number;
}

/** Size of the written files from a delay after the start. */
export interface SimWrite {
  readonly afterMs: number;
  readonly bytes: number;
  /** Number of files; default 1. */
  readonly files?: number;
}

/** Resources in use by a program. Default: none, with one thread. */
export interface SimUsage {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /** Number of threads and processes. */
  readonly tasks?: number;
}

/** Outcome of a command run inside a container. */
export interface SimExec extends SimExit {
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Inputs of the choice of a program. */
export interface SimProgramInput {
  readonly container: ContainerConfig;
  readonly sandbox: PodSandboxConfig;
}

/** Chooses the behaviour of a container when it starts. Deterministic: random behaviour uses a Prng of its own. */
export type SimPrograms = (input: SimProgramInput) => SimProgram;

/** Runs until it is stopped. */
export const runsForever: SimProgram = {};

/** Exits on its own. */
export const exitsWith = (code: number, afterMs = 0): SimProgram => ({ exits: { afterMs, code } });

/** Only KILL ends it. */
export const ignoresTerm: SimProgram = { onTerm: "ignored" };
