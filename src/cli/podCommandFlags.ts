/** Flags and options of the commands that reach into pods: `rxlet get`, `logs`, `exec`, `attach` and `port-forward`. */
import { parseLogInstant } from "../core/logs/sinceBound.ts";
import type { FlagSpec, FlagType } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import { readPodName } from "./podName.ts";
import { AUTHENTICATED, type KubeletTarget, readTarget, TARGET_FLAGS } from "./targetFlags.ts";

/** A pod of a kubelet. */
export interface PodTarget {
  readonly target: KubeletTarget;
  readonly namespace: string;
  readonly pod: string;
}

/** Options of `rxlet get`. */
export interface GetOptions {
  readonly target: KubeletTarget;
  /** undefined: all of them. */
  readonly namespace: string | undefined;
  readonly resource: "pods" | "events";
  /** undefined: all of them. */
  readonly name: string | undefined;
  readonly watch: boolean;
  readonly output: "table" | "wide" | "name" | "json" | "yaml";
}

/** Options of `rxlet logs`. */
export interface LogsOptions extends PodTarget {
  readonly container: string | undefined;
  /** Query parameters of the kubelet's log route. */
  readonly query: Readonly<Record<string, string>>;
}

/** Options of `rxlet exec`. */
export interface ExecOptions extends PodTarget {
  readonly container: string | undefined;
  readonly stdin: boolean;
  readonly tty: boolean;
  /** The command with its arguments. */
  readonly words: readonly string[];
}

/** Options of `rxlet attach`. */
export type AttachOptions = Omit<ExecOptions, "words">;

/** A local port and the pod's port that it forwards to; local port 0 is any free one. */
export interface ForwardedPort {
  readonly local: number;
  readonly remote: number;
}

/** Options of `rxlet port-forward`. */
export interface PortForwardOptions extends PodTarget {
  readonly address: string;
  readonly ports: readonly ForwardedPort[];
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

const flag = (name: string, type: FlagType, fallback: string, about: string, short?: string): FlagSpec => ({
  ...{ group: "rxlet", effective: true, name, type, default: fallback, about },
  ...(short === undefined ? {} : { short }),
});
const NAMESPACE = flag("namespace", "string", "default", "Namespace of the pod", "n");
const CONTAINER = flag("container", "string", "", "Container of the pod; the first one when not given", "c");
const STDIN = flag("stdin", "bool", "false", "Pass standard input to the container", "i");

/** Flags of `rxlet get`. */
export const GET_FLAGS: readonly FlagSpec[] = [
  flag("namespace", "string", "default", "Namespace of the objects", "n"),
  flag("all-namespaces", "bool", "false", "Show the objects of every namespace", "A"),
  flag("watch", "bool", "false", "Watch the objects: print each change", "w"),
  flag("output", "string", "", "wide, name, json or yaml; a table when not given", "o"),
  ...TARGET_FLAGS,
];

/** Flags of `rxlet logs`. */
export const LOGS_FLAGS: readonly FlagSpec[] = [
  NAMESPACE,
  CONTAINER,
  flag("follow", "bool", "false", "Print new lines until the container exits", "f"),
  flag("previous", "bool", "false", "Show the log of the container's previous instance", "p"),
  flag("tail", "int64", "-1", "Lines from the end to show; -1 is all"),
  flag("since", "duration", "0s", "Show lines newer than this, such as 5m; 0s is all"),
  flag("since-time", "string", "", "Show lines after this time, in RFC 3339"),
  flag("timestamps", "bool", "false", "Begin each line with its time"),
  flag("limit-bytes", "int64", "0", "Bytes to show at most; 0 is no limit"),
  ...TARGET_FLAGS,
];

/** Flags of `rxlet exec`. */
export const EXEC_FLAGS: readonly FlagSpec[] = [
  NAMESPACE,
  CONTAINER,
  STDIN,
  flag("tty", "bool", "false", "Run the command in a terminal", "t"),
  ...TARGET_FLAGS,
];

/** Flags of `rxlet attach`. */
export const ATTACH_FLAGS: readonly FlagSpec[] = [
  NAMESPACE,
  CONTAINER,
  STDIN,
  flag("tty", "bool", "false", "The container has a terminal", "t"),
  ...TARGET_FLAGS,
];

/** Flags of `rxlet port-forward`. */
export const PORT_FORWARD_FLAGS: readonly FlagSpec[] = [
  NAMESPACE,
  flag("address", "string", "localhost", "Address to listen on, such as 0.0.0.0"),
  ...TARGET_FLAGS,
];

const settled = <T>(options: T, faults: readonly string[]): Read<T> =>
  faults.length > 0 ? { ok: false, errors: faults } : { ok: true, options };

/** Reads the arguments that these commands share: the pod as the first argument, and the kubelet. */
function readPod(
  { given, positional, errors }: ParsedFlags,
  specs: readonly FlagSpec[],
  usage: string,
): { readonly values: Readonly<Record<string, unknown>>; readonly at: PodTarget; readonly faults: readonly string[] } {
  const values = ownFlagValues(given, specs);
  const [written] = positional;
  // kubectl accepts this form too.
  const name = written?.replace(/^(pods?|po)\//, "");
  const { namespace, pod, faults } = readPodName(name === undefined ? [] : [name], String(values["namespace"]));
  const missing = written === undefined ? [`the name of a pod is missing; usage: ${usage}`] : [];
  const { target, faults: unreachable } = readTarget(values, { given }, { otherwise: AUTHENTICATED, readOnly: false });
  return { values, at: { target, namespace, pod }, faults: [...errors, ...missing, ...faults, ...unreachable] };
}

const textOf = (value: unknown): string | undefined => (value === "" ? undefined : String(value));

const OUTPUTS: readonly string[] = ["wide", "name", "json", "yaml"];

/** Kinds of objects by the words of kubectl. */
const RESOURCES: ReadonlyMap<string | undefined, GetOptions["resource"]> = new Map([
  ...["pod", "pods", "po"].map((word) => [word, "pods"] as const),
  ...["event", "events", "ev"].map((word) => [word, "events"] as const),
]);

/** Reads the options of `rxlet get`, or returns all errors. */
export function readGetFlags({ given, positional, errors }: ParsedFlags): Read<GetOptions> {
  const values = ownFlagValues(given, GET_FLAGS);
  const [kind, named] = positional[0]?.split("/", 2) ?? [];
  const name = named ?? positional[1];
  const faults = [...errors];
  const resource = RESOURCES.get(kind);
  if (resource === undefined) faults.push("usage: rxlet get pods|events [NAME]; there is nothing else to get");
  const output = String(values["output"]);
  if (output !== "" && !OUTPUTS.includes(output)) faults.push(`--output: must be ${OUTPUTS.join(", ")}, got ${output}`);
  const isAll = values["allNamespaces"] === true;
  if (isAll && name !== undefined) faults.push("--all-namespaces: is of no use with a name");
  const { target, faults: unreachable } = readTarget(values, { given }, { otherwise: AUTHENTICATED, readOnly: true });
  return settled(
    {
      target,
      namespace: isAll ? undefined : String(values["namespace"]),
      resource: resource ?? "pods",
      name,
      watch: values["watch"] === true,
      output: (output === "" ? "table" : output) as GetOptions["output"],
    },
    [...faults, ...unreachable],
  );
}

/** Reads the options of `rxlet logs`, or returns all errors. */
export function readLogsFlags(parsed: ParsedFlags): Read<LogsOptions> {
  const { values, at, faults } = readPod(parsed, LOGS_FLAGS, "rxlet logs POD [CONTAINER]");
  const container = textOf(values["container"]) ?? parsed.positional[1];
  const [tail, limitBytes] = [Number(values["tail"]), Number(values["limitBytes"])];
  const sinceMs = Number(values["since"]);
  const sinceTime = String(values["sinceTime"]);
  const wrong = [
    ...(tail < -1 ? [`--tail: must be -1 or more, got ${tail}`] : []),
    ...(limitBytes < 0 ? [`--limit-bytes: must not be negative, got ${limitBytes}`] : []),
    ...(sinceMs < 0 ? ["--since: must not be negative"] : []),
    ...(sinceMs > 0 && sinceTime !== "" ? ["--since: cannot be used with --since-time"] : []),
    ...(sinceTime !== "" && parseLogInstant(sinceTime) === undefined
      ? [`--since-time: must be a time such as 2026-01-31T12:00:00Z, got ${sinceTime}`]
      : []),
  ];
  const query = {
    ...(values["follow"] === true ? { follow: "true" } : {}),
    ...(values["previous"] === true ? { previous: "true" } : {}),
    ...(values["timestamps"] === true ? { timestamps: "true" } : {}),
    ...(tail < 0 ? {} : { tailLines: String(tail) }),
    ...(limitBytes === 0 ? {} : { limitBytes: String(limitBytes) }),
    // Partial seconds round up, as in kubectl.
    ...(sinceMs === 0 ? {} : { sinceSeconds: String(Math.ceil(sinceMs / 1_000)) }),
    ...(sinceTime === "" ? {} : { sinceTime }),
  };
  return settled({ ...at, container, query }, [...faults, ...wrong]);
}

/** Reads the options of `rxlet exec`, or returns all errors. */
export function readExecFlags(parsed: ParsedFlags): Read<ExecOptions> {
  const usage = "rxlet exec POD [-c CONTAINER] -- COMMAND [ARGS...]";
  const { values, at, faults } = readPod(parsed, EXEC_FLAGS, usage);
  const words = parsed.afterDashes ?? [];
  const before = parsed.positional.length - words.length;
  const missing = words.length === 0 || before > 1 ? [`the command belongs behind --; usage: ${usage}`] : [];
  return settled({ ...at, ...streamsOf(values), words }, [...faults, ...missing]);
}

/** Reads the options of `rxlet attach`, or returns all errors. */
export function readAttachFlags(parsed: ParsedFlags): Read<AttachOptions> {
  const { values, at, faults } = readPod(parsed, ATTACH_FLAGS, "rxlet attach POD [-c CONTAINER]");
  return settled({ ...at, ...streamsOf(values) }, faults);
}

const streamsOf = (values: Readonly<Record<string, unknown>>) => ({
  container: textOf(values["container"]),
  stdin: values["stdin"] === true,
  tty: values["tty"] === true,
});

/** Reads the options of `rxlet port-forward`, or returns all errors. */
export function readPortForwardFlags(parsed: ParsedFlags): Read<PortForwardOptions> {
  const usage = "rxlet port-forward POD [LOCAL:]REMOTE...";
  const { values, at, faults } = readPod(parsed, PORT_FORWARD_FLAGS, usage);
  const written = parsed.positional.slice(1);
  const ports = written.flatMap((text) => portsOf(text) ?? []);
  const wrong = written
    .filter((text) => portsOf(text) === undefined)
    .map((text) => `${JSON.stringify(text)}: must be a port, LOCAL:REMOTE or :REMOTE`);
  const missing = written.length === 0 ? [`a port is missing; usage: ${usage}`] : [];
  return settled({ ...at, address: String(values["address"]), ports }, [...faults, ...wrong, ...missing]);
}

function portsOf(text: string): ForwardedPort | undefined {
  const [, local, remote = ""] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const ports = { local: Number(local ?? remote), remote: Number(remote) };
  return ports.remote < 1 || ports.remote > 65_535 || ports.local > 65_535 ? undefined : ports;
}
