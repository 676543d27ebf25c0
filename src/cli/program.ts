/**
 * The command line of rxlet: the daemon, or a sub-command of `commandTable.ts`. Turns argv into an Invocation and
 * neither prints nor exits. Exit code 1 goes with `error`, 0 with `help` and `version`.
 */
import { closestName } from "../core/config/closestName.ts";
import type { SubCommand } from "./commandRow.ts";
import { SUB_COMMANDS, subCommandOf } from "./commandTable.ts";
import { type ConfigReaders, nodeConfigReaders } from "./configReaders.ts";
import { KUBELET_FLAGS } from "./flags.ts";
import { commandHelp, KUBELET_FLAGS_TOPIC, kubeletFlagsHelp, rootHelp } from "./helpText.ts";
import type { Invocation, WrongInvocation } from "./invocation.ts";
import { loadKubeletOptions } from "./loadKubeletOptions.ts";
import { type ParsedFlags, parseFlags } from "./parseKubeletFlags.ts";

/** The environment of the program. */
export interface ProgramContext {
  /** Version of Kubernetes to print, such as `1.36.2+rxlet-0.1.0`; kubeadm reads it. */
  readonly version: string;
  readonly readers?: ConfigReaders;
}

/** Reads `argv` (without node and script) and the files it names. Rejects never. */
export async function runProgram(argv: readonly string[], context: ProgramContext): Promise<Invocation> {
  const [first, ...rest] = argv;
  if (first === "help") return help(rest);
  const command = subCommandOf(first);
  if (command !== undefined) return runSubCommand(command, rest);
  if (first !== undefined && !first.startsWith("-")) return wrong(unknownCommand(first, COMMAND_NAMES));

  const parsed = parseFlags(argv, KUBELET_FLAGS, `rxlet help ${KUBELET_FLAGS_TOPIC}`);
  if (parsed.help) return { command: "help", text: rootHelp() };
  if (parsed.given.some(({ spec, value }) => spec.name === "version" && value === true)) {
    return { command: "version", text: `Kubernetes v${context.version}` };
  }
  const loaded = await loadKubeletOptions(
    atMost(0, parsed, "the daemon takes flags only"),
    context.readers ?? nodeConfigReaders,
  );
  return loaded.ok ? { command: "kubelet", options: loaded.options } : { command: "error", errors: loaded.errors };
}

function help([topic, ...rest]: readonly string[]): Invocation {
  if (rest.length > 0) return wrong(...rest.map((text) => unexpectedArgument(text, "usage: rxlet help [TOPIC]")));
  if (topic === undefined || topic.startsWith("-")) return { command: "help", text: rootHelp() };
  if (topic === KUBELET_FLAGS_TOPIC) return { command: "help", text: kubeletFlagsHelp() };
  const command = subCommandOf(topic);
  if (command === undefined) return wrong(unknownCommand(topic, [...COMMAND_NAMES, KUBELET_FLAGS_TOPIC]));
  return { command: "help", text: commandHelp(command) };
}

function runSubCommand(command: SubCommand, argv: readonly string[]): Invocation {
  const parsed = parseFlags(argv, command.flags, `rxlet ${command.name} --help`);
  if (parsed.help) return { command: "help", text: commandHelp(command) };
  const usage = `usage: rxlet ${`${command.name} ${command.args}`.trim()} [flags]`;
  return command.read(atMost(command.maxArgs, parsed, usage));
}

const wrong = (...errors: readonly string[]): WrongInvocation => ({ command: "error", errors });

const COMMAND_NAMES = SUB_COMMANDS.map(({ name }) => name);

/** Commands of other programs, and how this one does the same. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["version", "rxlet --version prints the version"],
  ["kubelet", "rxlet without a command is the kubelet"],
  ["daemon", "rxlet without a command is the daemon"],
  ["run", "rxlet dev DIR runs the pods of a directory"],
  ["start", "rxlet dev DIR runs the pods of a directory"],
  ["describe", "rxlet explain POD shows what happened to a pod"],
]);

function unknownCommand(name: string, known: readonly string[]): string {
  const elsewhere = ELSEWHERE.get(name);
  if (elsewhere !== undefined) return `unknown command ${JSON.stringify(name)}; ${elsewhere}`;
  const guess = closestName(name, known);
  const hint = guess === undefined ? `the commands are ${known.join(", ")}` : `did you mean ${guess}?`;
  return `unknown command ${JSON.stringify(name)}; ${hint}`;
}

/** The flags with the first `count` arguments, and an error with a hint for each further one. */
function atMost(count: number, parsed: ParsedFlags, hint: string): ParsedFlags {
  const extra = parsed.positional.slice(count).map((text) => unexpectedArgument(text, hint));
  return { ...parsed, positional: parsed.positional.slice(0, count), errors: [...parsed.errors, ...extra] };
}

function unexpectedArgument(text: string, hint: string): string {
  const quoted = JSON.stringify(text);
  if (subCommandOf(text) !== undefined) {
    return `unexpected argument ${quoted}; the command ${text} must come before all flags`;
  }
  if (text !== "true" && text !== "false") return `unexpected argument ${quoted}; ${hint}`;
  return `unexpected argument ${quoted}; a switch takes its value as --switch=${text}`;
}
