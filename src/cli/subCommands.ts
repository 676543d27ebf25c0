/** Flags and options of the sub-commands. */
import type { FlagSpec, FlagType } from "./flagSpec.ts";

/** Options of `rxlet dev [DIR]`. */
export interface DevOptions {
  /** Directory of manifests; the examples when absent. */
  readonly dir?: string;
  /** Directory of the node's state; a temporary one when absent. */
  readonly rootDir?: string;
  /** Name of the node; the host name when absent. */
  readonly nodeName?: string;
  /** Port of the read-only server; 0 turns it off. */
  readonly readOnlyPort: number;
  /** Log verbosity; higher says more. */
  readonly logLevel: number;
}

/** Options of `rxlet runtime`. */
export interface RuntimeOptions {
  /** Unix socket to serve CRI on. */
  readonly socket: string;
  /** Directory that outlives the process: what runs, and its logs. */
  readonly stateDir: string;
}

const flag = (name: string, type: FlagType, fallback: string, about: string): FlagSpec => ({
  name,
  type,
  default: fallback,
  group: "rxlet",
  about,
  effective: true,
});

/** Flags of `rxlet dev`. */
export const DEV_FLAGS: readonly FlagSpec[] = [
  flag("root-dir", "string", "", "Directory of the node's state; a temporary one when not given"),
  flag("node-name", "string", "", "Name of the node; the host name when not given"),
  flag("read-only-port", "int32", "10255", "Port of the read-only server on loopback; 0 turns it off"),
  flag("log-level", "Level", "0", "Log verbosity; higher says more"),
];

/** Flags of `rxlet runtime`. */
export const RUNTIME_FLAGS: readonly FlagSpec[] = [
  flag("socket", "string", "", "Unix socket to serve CRI on (required)"),
  flag("state-dir", "string", "", "Directory of the runtime's state (required)"),
];
