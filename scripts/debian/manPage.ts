/** The man page rxlet(8), from the tables that the program's own help reads. */
import type { SubCommand } from "../../src/cli/commandRow.ts";
import { SUB_COMMANDS } from "../../src/cli/commandTable.ts";
import { describeFlag } from "../../src/cli/flagCommand.ts";
import { KUBELET_FLAGS } from "../../src/cli/flags.ts";
import { FLAG_GROUPS, type FlagSpec, isSwitch, valueName } from "../../src/cli/flagSpec.ts";
import { ABOUT, FLAGS_ABOUT } from "../../src/cli/helpText.ts";

/** Facts of the page that no table has. */
export interface ManPageFacts {
  readonly version: string;
  /** Date of the page, in milliseconds since the epoch. */
  readonly dateMs: number;
}

const EXIT_CODES: readonly (readonly [code: string, about: string])[] = [
  ["0", "Ended by a signal, or printed help or the version."],
  ["1", "Cannot start or go on: wrong flags or configuration, a port in use, a failed command."],
  ["70", "A broken invariant, which is a bug. Containers keep running."],
];

const FILES: readonly (readonly [path: string, about: string])[] = [
  ["/etc/rxlet/config.yaml", "Configuration of the service: a KubeletConfiguration."],
  ["/etc/default/rxlet", "Further arguments of the service, in RXLET_ARGS."],
  ["/etc/kubernetes/manifests", "Pods of the node, one manifest per file."],
  ["/var/lib/kubelet", "State of the node and volumes of its pods."],
  ["/usr/share/doc/rxlet", "Reference of fields, files, ports, metrics and events."],
];

/** Escapes text for roff, so that every character is printed and none is a request. */
export function roff(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq").replaceAll("`", "\\(ga");
  return escaped.replaceAll("^", "\\(ha").replaceAll("~", "\\(ti").replace(/^\./gm, "\\&.");
}

const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
const section = (name: string): string => `.SH "${roff(name.toUpperCase())}"`;
const subsection = (name: string): string => `.SS "${roff(name)}"`;
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
/** Paragraphs of a text: a line break of help text is none of the page. */
const paragraphs = (text: string): readonly string[] => text.split("\n").map((line) => roff(line));

/** An entry of a list with tags. */
const entry = (tag: string, about: string): readonly string[] => [".TP", tag, roff(about)];

function flagTag(spec: FlagSpec): string {
  const value = valueName(spec);
  const short = spec.short === undefined ? "" : `${bold(`-${spec.short}`)}, `;
  // A switch takes a value only after `=`.
  return `${short}${bold(`--${spec.name}`)}${roff(isSwitch(spec) ? value.replace("[", "[=") : `=${value}`)}`;
}

const flagEntries = (flags: readonly FlagSpec[]): readonly string[] =>
  flags.flatMap((spec) => entry(flagTag(spec), sentence(describeFlag(spec))));

/** Lines as they are, in the font of code. */
const literal = (lines: readonly string[]): readonly string[] => [
  ".PP",
  ".nf",
  ".RS 4",
  ...lines.map(roff),
  ".RE",
  ".fi",
];

const commandSection = ({ name, args, about, details, flags, examples }: SubCommand): readonly string[] => [
  subsection(`rxlet ${name} ${args}`.trimEnd()),
  ...paragraphs(sentence(about)),
  ...(details === undefined ? [] : [".PP", ...paragraphs(details)]),
  ...flagEntries(flags),
  ...literal(examples),
];

/** Returns the page. Equal tables and facts give equal pages. */
export function manPage({ version, dateMs }: ManPageFacts): string {
  const [date] = new Date(dateMs).toISOString().split("T");
  const groups = FLAG_GROUPS.map((group) => ({ group, flags: KUBELET_FLAGS.filter((spec) => spec.group === group) }));
  return [
    `.TH RXLET 8 "${date}" "rxlet ${roff(version)}" "System Administration"`,
    // Flags and paths are neither hyphenated nor spread over a line.
    ".nh",
    ".ad l",
    section("Name"),
    "rxlet \\- node agent of Kubernetes",
    section("Synopsis"),
    `${bold("rxlet")} [flags]`,
    ".br",
    `${bold("rxlet")} COMMAND [arguments] [flags]`,
    section("Description"),
    ...paragraphs(ABOUT),
    section("Commands"),
    ...SUB_COMMANDS.flatMap(commandSection),
    section("Flags of the daemon"),
    ...paragraphs(FLAGS_ABOUT),
    ...groups.flatMap(({ group, flags }) => (flags.length === 0 ? [] : [subsection(group), ...flagEntries(flags)])),
    section("Exit status"),
    ...EXIT_CODES.flatMap(([code, about]) => entry(bold(code), about)),
    section("Files"),
    ...FILES.flatMap(([path, about]) => entry(bold(path), about)),
    section("See also"),
    `${bold("kubectl")}(1), ${bold("systemctl")}(1), ${bold("containerd")}(8)`,
    "",
  ].join("\n");
}
