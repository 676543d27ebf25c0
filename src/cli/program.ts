/**
 * The command line of rxlet: the daemon (no sub-command), `rxlet dev`, `rxlet explain`, `rxlet volumes`, `rxlet retry`,
 * `rxlet simulate` and `rxlet runtime`. Turns argv into what to do, as a value; it neither prints nor exits. Exit code 1 goes with `error`, 0 with `help` and `version`.
 */
import { closestName } from "../core/config/closestName.ts";
import { type ConfigReaders, nodeConfigReaders } from "./configReaders.ts";
import { flagCommand } from "./flagCommand.ts";
import type { FlagSpec } from "./flagSpec.ts";
import { KUBELET_FLAGS } from "./flags.ts";
import type { KubeletOptions } from "./kubeletOptions.ts";
import { loadKubeletOptions } from "./loadKubeletOptions.ts";
import { type DevOptions, DEV_FLAGS, type RuntimeOptions, RUNTIME_FLAGS } from "./subCommands.ts";
import { ownFlagValues, type ParsedFlags, parseFlags } from "./parseKubeletFlags.ts";
import { readRetryFlags, RETRY_FLAGS, type RetryOptions } from "./retryFlags.ts";
import {
  EXPLAIN_FLAGS,
  type ExplainOptions,
  readExplainFlags,
  readVolumesFlags,
  type VolumesOptions,
} from "./showFlags.ts";
import { readSimulateFlags, SIMULATE_FLAGS, type SimulateFlags } from "./simulateFlags.ts";

/** What the command line asks for. */
export type Invocation =
  | { readonly command: "kubelet"; readonly options: KubeletOptions }
  | ({ readonly command: "dev" } & DevOptions)
  | ({ readonly command: "explain" } & ExplainOptions)
  | ({ readonly command: "volumes" } & VolumesOptions)
  | ({ readonly command: "retry" } & RetryOptions)
  | ({ readonly command: "runtime" } & RuntimeOptions)
  | ({ readonly command: "simulate" } & SimulateFlags)
  | { readonly command: "help"; readonly text: string }
  | { readonly command: "version"; readonly text: string }
  | { readonly command: "error"; readonly errors: readonly string[] };

/** What the program needs from outside. */
export interface ProgramContext {
  /** Version of Kubernetes to print, such as `1.36.2+rxlet-0.1.0`; kubeadm reads it. */
  readonly version: string;
  readonly readers?: ConfigReaders;
}

const ABOUT = {
  kubelet:
    "Runs the pods of this node: those of a manifest directory or URL now, those of an API server later.\n" +
    "Most settings belong into the KubeletConfiguration file of --config; flags override it. A flag marked\n" +
    "`file: field` is deprecated: set that field in the file.",
  dev: "Run pods from a directory with the built-in runtime, without containers or root, and show them live",
  explain: "Tell what happened to a pod of a running rxlet, what it waits for now, and what comes next",
  volumes: "Show which volumes a running rxlet has mounted, waits for or finds left over, and why",
  retry: "Let a pod of a running rxlet that waits in a backoff try again at once",
  simulate:
    "Run whole simulated nodes in virtual time, with faults drawn from a seed, and check every rule at every step.\n" +
    "Exits with 2 when a rule was broken, 3 when what is wanted did not come about, 4 when the kubelet ended.",
  runtime: "Run the built-in runtime (CRI v1) that starts containers as local processes",
} as const;

function rootCommand() {
  const root = flagCommand("rxlet", ABOUT.kubelet, KUBELET_FLAGS).usage("[command] [flags]");
  root.addCommand(flagCommand("dev", ABOUT.dev, DEV_FLAGS).usage("[DIR] [flags]"));
  root.addCommand(flagCommand("explain", ABOUT.explain, EXPLAIN_FLAGS).usage("POD [flags]"));
  root.addCommand(flagCommand("volumes", ABOUT.volumes, EXPLAIN_FLAGS).usage("[POD] [flags]"));
  root.addCommand(flagCommand("retry", ABOUT.retry, RETRY_FLAGS).usage("POD [flags]"));
  root.addCommand(flagCommand("simulate", ABOUT.simulate, SIMULATE_FLAGS));
  root.addCommand(flagCommand("runtime", ABOUT.runtime, RUNTIME_FLAGS));
  return root;
}

const SUB_COMMANDS = ["dev", "explain", "volumes", "retry", "simulate", "runtime"] as const;
type SubCommand = (typeof SUB_COMMANDS)[number];
const isSubCommand = (text: string | undefined): text is SubCommand => SUB_COMMANDS.some((name) => name === text);

/** The help of the daemon with its sub-commands, or of one sub-command. */
export function helpText(command: "kubelet" | SubCommand): string {
  const root = rootCommand();
  const chosen = command === "kubelet" ? root : root.commands.find((sub) => sub.name() === command);
  return (chosen ?? root).helpInformation();
}

/** Reads `argv` (without node and script) and the files it names. Rejects never. */
export async function runProgram(argv: readonly string[], context: ProgramContext): Promise<Invocation> {
  const [first, ...rest] = argv;
  if (first === "help") return { command: "help", text: helpText(isSubCommand(rest[0]) ? rest[0] : "kubelet") };
  if (isSubCommand(first)) return runSubCommand(first, rest);
  if (first !== undefined && !first.startsWith("-")) return { command: "error", errors: [unknownCommand(first)] };

  const parsed = parseFlags(argv, KUBELET_FLAGS);
  if (parsed.help) return { command: "help", text: helpText("kubelet") };
  if (parsed.given.some(({ spec, value }) => spec.name === "version" && value === true)) {
    return { command: "version", text: `Kubernetes v${context.version}` };
  }
  const extra = parsed.positional.map(unexpectedArgument);
  const all = { ...parsed, errors: [...parsed.errors, ...extra] };
  const loaded = await loadKubeletOptions(all, context.readers ?? nodeConfigReaders);
  return loaded.ok ? { command: "kubelet", options: loaded.options } : { command: "error", errors: loaded.errors };
}

function unknownCommand(name: string): string {
  const guess = closestName(name, SUB_COMMANDS);
  return `unknown command ${JSON.stringify(name)}${guess === undefined ? "; see rxlet --help" : `; did you mean ${guess}?`}`;
}

function unexpectedArgument(text: string): string {
  const quoted = JSON.stringify(text);
  if (isSubCommand(text)) return `unexpected argument ${quoted}; the command ${text} must come before all flags`;
  if (text !== "true" && text !== "false") return `unexpected argument ${quoted}`;
  return `unexpected argument ${quoted}; a switch takes its value as --switch=${text}`;
}

const SUB_COMMAND_FLAGS: Readonly<Record<SubCommand, readonly FlagSpec[]>> = {
  dev: DEV_FLAGS,
  explain: EXPLAIN_FLAGS,
  volumes: EXPLAIN_FLAGS,
  retry: RETRY_FLAGS,
  simulate: SIMULATE_FLAGS,
  runtime: RUNTIME_FLAGS,
};

function runSubCommand(command: SubCommand, argv: readonly string[]): Invocation {
  const parsed = parseFlags(argv, SUB_COMMAND_FLAGS[command]);
  if (parsed.help) return { command: "help", text: helpText(command) };
  if (command === "explain") {
    const asked = readExplainFlags(parsed);
    return asked.ok ? { command, ...asked.options } : { command: "error", errors: asked.errors };
  }
  if (command === "volumes") {
    const asked = readVolumesFlags(parsed);
    return asked.ok ? { command, ...asked.options } : { command: "error", errors: asked.errors };
  }
  if (command === "retry") {
    const asked = readRetryFlags(parsed);
    return asked.ok ? { command, ...asked.options } : { command: "error", errors: asked.errors };
  }
  const allowed = command === "dev" ? 1 : 0;
  const extra = parsed.positional.slice(allowed).map(unexpectedArgument);
  const all = { ...parsed, errors: [...parsed.errors, ...extra] };
  if (command === "runtime") return runtimeInvocation(all);
  if (command === "dev") return devInvocation(all);
  const read = readSimulateFlags(all);
  return read.ok ? { command, ...read.flags } : { command: "error", errors: read.errors };
}

function runtimeInvocation({ given, errors }: ParsedFlags): Invocation {
  const values = ownFlagValues(given, RUNTIME_FLAGS);
  const missing = ["socket", "state-dir"].filter((name) => {
    const isGiven = given.some(({ spec, value }) => spec.name === name && value !== "");
    return !isGiven && !errors.some((error) => error.startsWith(`--${name}:`));
  });
  const faults = [...errors, ...missing.map((name) => `--${name}: is required`)];
  if (faults.length > 0) return { command: "error", errors: faults };
  return { command: "runtime", socket: String(values["socket"]), stateDir: String(values["stateDir"]) };
}

function devInvocation({ given, positional, errors }: ParsedFlags): Invocation {
  const values = ownFlagValues(given, DEV_FLAGS);
  const text = (name: string): string => String(values[name]);
  const readOnlyPort = Number(values["readOnlyPort"]);
  const isPort = readOnlyPort >= 0 && readOnlyPort <= 65_535;
  const fault = `--read-only-port: must be 0 (off) or a port between 1 and 65535, got ${readOnlyPort}`;
  const faults = isPort ? errors : [...errors, fault];
  if (faults.length > 0) return { command: "error", errors: faults };
  const [dir] = positional;
  return {
    command: "dev",
    ...(dir === undefined ? {} : { dir }),
    ...(text("rootDir") === "" ? {} : { rootDir: text("rootDir") }),
    ...(text("nodeName") === "" ? {} : { nodeName: text("nodeName") }),
    readOnlyPort,
    logLevel: Number(values["logLevel"]),
  };
}
