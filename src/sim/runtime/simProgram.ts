/** What runs inside simulated containers: behaviour as data, chosen per container by a function of its config. */
import type { ContainerConfig, PodSandboxConfig } from "../../gen/cri.ts";

/** How a process ends: after how long, and with which exit code. */
export interface SimExit {
  readonly afterMs: number;
  readonly code: number;
}

/** How a program behaves. */
export interface SimProgram {
  /** Counted from the start; undefined: it runs until it is stopped. */
  readonly exits?: SimExit;
  /** Counted from the signal; default: code 143 after 5 ms. `ignored`: only KILL ends it. */
  readonly onTerm?: SimExit | "ignored";
  /** Counted from the signal; default: code 137 after 2 ms. Longer for a process that sleeps where no signal reaches. */
  readonly onKill?: SimExit;
  /** The start fails, saying this, as for a program that does not exist. */
  readonly failsToStart?: string;
  /** Written to the termination message file when it ends. */
  readonly terminationMessage?: string;
  /** What a command run inside does; default: nothing, with code 0, at once. */
  exec?(command: readonly string[]): SimExec;
  readonly usage?: SimUsage;
  /** From then on it has this much memory, counted from the start. */
  readonly grows?: { readonly afterMs: number; readonly memoryBytes: number };
}

/** What a program uses of its machine. Default: nothing, with one thread. */
export interface SimUsage {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /** Threads and processes. */
  readonly tasks?: number;
}

/** Outcome of a command run inside a container. */
export interface SimExec extends SimExit {
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What a program may depend on. */
export interface SimProgramInput {
  readonly container: ContainerConfig;
  readonly sandbox: PodSandboxConfig;
}

/** Chooses the behaviour of a container when it starts. Deterministic: anything random comes from a Prng of its own. */
export type SimPrograms = (input: SimProgramInput) => SimProgram;

/** Runs until it is told to stop. */
export const runsForever: SimProgram = {};

/** Ends by itself. */
export const exitsWith = (code: number, afterMs = 0): SimProgram => ({ exits: { afterMs, code } });

/** Only KILL ends it. */
export const ignoresTerm: SimProgram = { onTerm: "ignored" };
