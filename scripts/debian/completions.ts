/** Completion of rxlet in shells, from the tables of its commands and flags. */
import type { SubCommand } from "../../src/cli/commandRow.ts";
import { SUB_COMMANDS } from "../../src/cli/commandTable.ts";
import { KUBELET_FLAGS } from "../../src/cli/flags.ts";
import { type FlagSpec, isSwitch } from "../../src/cli/flagSpec.ts";
import { KUBELET_FLAGS_TOPIC } from "../../src/cli/helpText.ts";

const HEAD = "# Completion of rxlet, made from the tables of its commands and flags.";
const NAMES = [...SUB_COMMANDS.map(({ name }) => name), "help"];
const TOPICS = [...SUB_COMMANDS.map(({ name }) => name), KUBELET_FLAGS_TOPIC];

/** Quotes a text for all three shells: the tables have no control characters. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the names of flags; `=` follows those that need a value. */
const flagWords = (flags: readonly FlagSpec[]): readonly string[] => [
  ...flags.map((spec) => (isSwitch(spec) ? `--${spec.name}` : `--${spec.name}=`)),
  "--help",
];

/** Kind of the first argument of a command. */
function argumentKind({ args }: SubCommand): "directory" | "file" | "pods" | undefined {
  if (/\bDIR\b/.test(args)) return "directory";
  if (/\bFILE\b/.test(args)) return "file";
  return args.startsWith("pods") ? "pods" : undefined;
}

const BASH_ARGUMENTS = { directory: "action=directory", file: "action=file", pods: "words=pods" };

function bashCommand(command: SubCommand): readonly string[] {
  const kind = argumentKind(command);
  return [
    `    ${command.name})`,
    `      flags=${quoted(flagWords(command.flags).join(" "))}`,
    ...(kind === undefined ? [] : [`      ${BASH_ARGUMENTS[kind]}`]),
    "      ;;",
  ];
}

/** Returns the completion for bash. It needs no package beside bash. */
export const bashCompletion = (): string =>
  [
    HEAD,
    "_rxlet() {",
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}",
    "  local flags= words= action=",
    "  COMPREPLY=()",
    "  # Bash splits --flag=value into three words.",
    "  if [[ $cur == = || $prev == = ]]; then",
    "    [[ $cur == = ]] && cur=",
    "    compopt -o filenames",
    '    mapfile -t COMPREPLY < <(compgen -f -- "$cur")',
    "    return",
    "  fi",
    "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then",
    `    mapfile -t COMPREPLY < <(compgen -W ${quoted(NAMES.join(" "))} -- "$cur")`,
    "    return",
    "  fi",
    "  case $command in",
    ...SUB_COMMANDS.flatMap(bashCommand),
    "    help)",
    `      words=${quoted(TOPICS.join(" "))}`,
    "      ;;",
    "    -*)",
    `      flags=${quoted(flagWords(KUBELET_FLAGS).join(" "))}`,
    "      ;;",
    "  esac",
    "  if [[ $cur == -* ]]; then",
    '    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")',
    "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace",
    "  elif [[ -n $action ]]; then",
    "    compopt -o filenames",
    '    mapfile -t COMPREPLY < <(compgen -A "$action" -- "$cur")',
    "  else",
    '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")',
    "  fi",
    "}",
    "complete -F _rxlet rxlet",
    "",
  ].join("\n");

const FISH_ARGUMENTS = { directory: "-xa '(__fish_complete_directories)'", file: "-F", pods: "-xa pods" };

const fishFlag = (condition: string, { name, short, about, ...spec }: FlagSpec): string => {
  const letter = short === undefined ? "" : ` -s ${short}`;
  const value = isSwitch({ name, about, ...spec }) ? "" : " -r";
  return `complete -c rxlet -n ${quoted(condition)} -l ${name}${letter}${value} -d ${quoted(about)}`;
};

function fishCommand(command: SubCommand): readonly string[] {
  const condition = `__fish_seen_subcommand_from ${command.name}`;
  const kind = argumentKind(command);
  return [
    `complete -c rxlet -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.about)}`,
    ...command.flags.map((spec) => fishFlag(condition, spec)),
    ...(kind === undefined ? [] : [`complete -c rxlet -n ${quoted(condition)} ${FISH_ARGUMENTS[kind]}`]),
  ];
}

/** Returns the completion for fish. */
export const fishCompletion = (): string =>
  [
    HEAD,
    "complete -c rxlet -f",
    "complete -c rxlet -l help -s h -d 'Print this help and exit'",
    "complete -c rxlet -n __fish_use_subcommand -a help -d 'Show the help of a command'",
    `complete -c rxlet -n '__fish_seen_subcommand_from help' -a ${quoted(TOPICS.join(" "))}`,
    ...SUB_COMMANDS.flatMap(fishCommand),
    ...KUBELET_FLAGS.map((spec) => fishFlag("__fish_use_subcommand", spec)),
    "",
  ].join("\n");

const ZSH_ARGUMENTS = { directory: "_files -/", file: "_files", pods: "compadd pods" };

/** Escapes what `_describe` and `_arguments` read as syntax. */
const zshText = (text: string): string => text.replace(/[[\]:]/g, "\\$&");
const zshFlag = (spec: FlagSpec): string => {
  const name = `--${spec.name}${isSwitch(spec) ? "" : "="}`;
  return quoted(`${name}[${zshText(spec.about)}]${isSwitch(spec) ? "" : ":value:_files"}`);
};

const zshCommand = (command: SubCommand): readonly string[] => {
  const kind = argumentKind(command);
  const specs = ["'--help'", ...command.flags.map(zshFlag)];
  const all = kind === undefined ? specs : [...specs, quoted(`*:argument:${ZSH_ARGUMENTS[kind]}`)];
  return [`    ${command.name})`, `      _arguments ${all.join(" ")}`, "      ;;"];
};

/** Returns the completion for zsh. */
export const zshCompletion = (): string =>
  [
    "#compdef rxlet",
    HEAD,
    "local -a commands",
    "commands=(",
    ...SUB_COMMANDS.map(({ name, about }) => `  ${quoted(`${name}:${zshText(about)}`)}`),
    "  'help:Show the help of a command'",
    ")",
    "if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then",
    "  _describe command commands",
    "elif [[ $words[2] == -* ]]; then",
    `  _arguments ${["'--help'", ...KUBELET_FLAGS.map(zshFlag)].join(" ")}`,
    "else",
    "  local command=$words[2]",
    "  shift words",
    "  ((CURRENT--))",
    "  case $command in",
    ...SUB_COMMANDS.flatMap(zshCommand),
    "    help)",
    `      compadd ${TOPICS.join(" ")}`,
    "      ;;",
    "  esac",
    "fi",
    "",
  ].join("\n");
