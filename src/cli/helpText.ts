/**
 * The help of rxlet: a first screen of commands and frequent flags, the flags of the daemon, and each command. Pure.
 */
import type { SubCommand } from "./commandRow.ts";
import { SUB_COMMANDS } from "./commandTable.ts";
import { flagCommand } from "./flagCommand.ts";
import { KUBELET_FLAGS } from "./flags.ts";

/** The topic of `rxlet help` that lists the flags of the daemon. */
export const KUBELET_FLAGS_TOPIC = "kubelet-flags";

const USED_MOST = [
  "config",
  "kubeconfig",
  "bootstrap-kubeconfig",
  "pod-manifest-path",
  "container-runtime-endpoint",
  "root-dir",
  "hostname-override",
  "node-ip",
  "v",
  "version",
];

/** A description of the program. */
export const ABOUT =
  "A kubelet: runs the pods of this node, those of a manifest directory or URL and those of an API server.\n" +
  "Without a command it is the daemon.";
/** A description of the daemon's flags. */
export const FLAGS_ABOUT =
  "Flags of the daemon, those of the upstream kubelet. Most settings belong in the KubeletConfiguration file of\n" +
  "--config; flags override it. A flag marked `file: field` is deprecated: set that field in the file.";

/** The first screen. */
export function rootHelp(): string {
  const usages = [...SUB_COMMANDS, { name: "help", args: "[TOPIC]", about: HELP_ABOUT }].map(
    ({ name, args, about }) => [`${name} ${args}`.trimEnd(), about] as const,
  );
  const width = Math.max(...usages.map(([usage]) => usage.length));
  const often = KUBELET_FLAGS.filter(({ name }) => USED_MOST.includes(name));
  return [
    "Usage: rxlet [flags]",
    "       rxlet COMMAND [arguments] [flags]",
    "",
    ABOUT,
    "",
    "Commands:",
    ...usages.map(([usage, about]) => `  ${usage.padEnd(width)}  ${about}`),
    "",
    afterUsage(flagCommand("rxlet", "", often, "Flags of the daemon used most:").helpInformation()),
    `rxlet help ${KUBELET_FLAGS_TOPIC} lists all ${KUBELET_FLAGS.length} flags of the daemon, rxlet help COMMAND those of a command.`,
    "",
    ...exampleLines(["rxlet dev examples/first-pods", "rxlet --config=/etc/rxlet/config.yaml"]),
    "",
  ].join("\n");
}

const HELP_ABOUT = `Show the help of a command, or ${KUBELET_FLAGS_TOPIC}`;

/** Every flag of the daemon, by groups. */
export const kubeletFlagsHelp = (): string => flagCommand("rxlet", FLAGS_ABOUT, KUBELET_FLAGS).helpInformation();

/** The help of one command. */
export function commandHelp({ name, args, about, details, flags, examples }: SubCommand): string {
  const text = details === undefined ? `${about}.` : `${about}.\n${details}`;
  const usage = `${args} [flags]`.trim();
  const help = flagCommand(`rxlet ${name}`, text, flags, "Flags:").usage(usage).helpInformation();
  return [help.trimEnd(), "", ...exampleLines(examples), ""].join("\n");
}

const exampleLines = (examples: readonly string[]): readonly string[] => [
  "Examples:",
  ...examples.map((example) => `  ${example}`),
];

/** The help of a command without its first paragraph. */
const afterUsage = (help: string): string => help.slice(help.indexOf("\n\n") + 2);
