/** Flags and options of `rxlet dockershim`. */
import { DOCKER_FLAGS, dockerFaults, type DockerOptions } from "./dockerFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";

/** Options of `rxlet dockershim`. */
export interface DockershimOptions extends DockerOptions {
  /** Path of the Unix socket to serve CRI on. */
  readonly socket: string;
  /** Directory that outlives the process. */
  readonly stateDir: string;
}

const SCHEME = "unix://";
const SOCKET: FlagSpec = {
  name: "socket",
  type: "string",
  default: "",
  group: "rxlet",
  about: "Unix socket to serve CRI on (required)",
  effective: true,
};
const STATE_DIR: FlagSpec = {
  ...SOCKET,
  name: "state-dir",
  default: "/var/lib/dockershim",
  about: "Directory of the checkpoints of sandboxes",
};

/** Flags of `rxlet dockershim`. */
export const DOCKERSHIM_FLAGS: readonly FlagSpec[] = [SOCKET, STATE_DIR, ...DOCKER_FLAGS];

/** Returns the options, or everything that is wrong with them. */
export function readDockershimFlags({
  given,
  errors,
}: ParsedFlags):
  | { readonly ok: true; readonly options: DockershimOptions }
  | { readonly ok: false; readonly errors: readonly string[] } {
  const options = ownFlagValues(given, DOCKERSHIM_FLAGS) as unknown as DockershimOptions;
  const socket = options.socket.startsWith(SCHEME) ? options.socket.slice(SCHEME.length) : options.socket;
  const hasSocket = socket !== "" || errors.some((error) => error.startsWith("--socket:"));
  const faults = [
    ...errors,
    ...(hasSocket ? [] : ["--socket: is required"]),
    ...(options.stateDir === "" ? ["--state-dir: is required"] : []),
    ...dockerFaults(options),
  ];
  return faults.length > 0 ? { ok: false, errors: faults } : { ok: true, options: { ...options, socket } };
}
