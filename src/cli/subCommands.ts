/** Flags and options of `rxlet dev`, `rxlet template` and `rxlet runtime`. */
import { isUnixSocket } from "./dockerFlags.ts";
import type { FlagSpec, FlagType } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";

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
  /** Log verbosity; higher logs more. */
  readonly logLevel: number;
  /** The runtime that runs the pods. */
  readonly runtime: DevRuntimeName;
  /** URL of its socket; its usual one when absent. */
  readonly runtimeEndpoint?: string;
}

const DEV_RUNTIMES = ["embedded", "docker", "containerd"] as const;

/** Runtimes of `rxlet dev`: the built-in one, or one of the machine. */
export type DevRuntimeName = (typeof DEV_RUNTIMES)[number];

/** Options of `rxlet runtime`. */
export interface RuntimeOptions {
  /** Unix socket to serve CRI on. */
  readonly socket: string;
  /** Directory that outlives the process: what runs, and its logs. */
  readonly stateDir: string;
  /** The end of standard input stops the containers and the runtime. */
  readonly endWithStdin: boolean;
}

/** Options of `rxlet template FILE`. */
export interface TemplateOptions {
  /** Path of the manifest; `-` is standard input. */
  readonly file: string;
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

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
  flag("log-level", "Level", "0", "Log verbosity; higher logs more"),
  flag("runtime", "string", "embedded", "Runtime of the pods: embedded, docker or containerd"),
  flag(
    "runtime-endpoint",
    "string",
    "",
    "Socket of Docker or containerd; when empty that of DOCKER_HOST, unix:///var/run/docker.sock or unix:///run/containerd/containerd.sock",
  ),
];

/** Flags of `rxlet runtime`. */
export const RUNTIME_FLAGS: readonly FlagSpec[] = [
  flag("socket", "string", "", "Unix socket to serve CRI on (required)"),
  flag("state-dir", "string", "", "Directory of the runtime's state (required)"),
  flag("end-with-stdin", "bool", "false", "Kill the containers and exit when standard input ends"),
];

/** The options of `rxlet dev`, or everything that is wrong with them. */
export function readDevFlags({ given, positional, errors }: ParsedFlags): Read<DevOptions> {
  const values = ownFlagValues(given, DEV_FLAGS);
  const text = (name: string): string => String(values[name]);
  const readOnlyPort = Number(values["readOnlyPort"]);
  const [runtime, runtimeEndpoint] = [text("runtime"), text("runtimeEndpoint")];
  const faults = [...errors, ...portFaults(readOnlyPort), ...devRuntimeFaults(runtime, runtimeEndpoint)];
  if (faults.length > 0) return { ok: false, errors: faults };
  const [dir] = positional;
  return {
    ok: true,
    options: {
      ...(dir === undefined ? {} : { dir }),
      ...(text("rootDir") === "" ? {} : { rootDir: text("rootDir") }),
      ...(text("nodeName") === "" ? {} : { nodeName: text("nodeName") }),
      readOnlyPort,
      logLevel: Number(values["logLevel"]),
      runtime: runtime as DevRuntimeName,
      ...(runtimeEndpoint === "" ? {} : { runtimeEndpoint }),
    },
  };
}

const portFaults = (port: number): readonly string[] =>
  port >= 0 && port <= 65_535 ? [] : [`--read-only-port: must be 0 (off) or a port between 1 and 65535, got ${port}`];

function devRuntimeFaults(runtime: string, endpoint: string): readonly string[] {
  if (!(DEV_RUNTIMES as readonly string[]).includes(runtime)) {
    return [`--runtime: must be embedded, docker or containerd, got ${JSON.stringify(runtime)}`];
  }
  if (endpoint === "") return [];
  if (runtime === "embedded") return ["--runtime-endpoint: needs --runtime=docker or --runtime=containerd"];
  if (isUnixSocket(endpoint)) return [];
  return [`--runtime-endpoint: must be unix:// and an absolute path, got ${JSON.stringify(endpoint)}`];
}

/** Likewise for `rxlet runtime`. */
export function readRuntimeFlags({ given, errors }: ParsedFlags): Read<RuntimeOptions> {
  const values = ownFlagValues(given, RUNTIME_FLAGS);
  const missing = ["socket", "state-dir"].filter((name) => {
    const isGiven = given.some(({ spec, value }) => spec.name === name && value !== "");
    return !isGiven && !errors.some((error) => error.startsWith(`--${name}:`));
  });
  const faults = [...errors, ...missing.map((name) => `--${name}: is required`)];
  if (faults.length > 0) return { ok: false, errors: faults };
  return {
    ok: true,
    options: {
      socket: String(values["socket"]),
      stateDir: String(values["stateDir"]),
      endWithStdin: values["endWithStdin"] === true,
    },
  };
}

/** Likewise for `rxlet template`. */
export function readTemplateFlags({ positional: [file], errors }: ParsedFlags): Read<TemplateOptions> {
  if (file === undefined) return { ok: false, errors: [...errors, "template needs a manifest: rxlet template FILE"] };
  return errors.length > 0 ? { ok: false, errors } : { ok: true, options: { file } };
}
