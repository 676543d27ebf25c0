/** A commander command made from a flag table, which writes the help by groups. */
import { Command, Option } from "commander";
import { FLAG_GROUPS, type FlagSpec, valueName } from "./flagSpec.ts";

const HELP_WIDTH = 120;

/** Returns the description of a flag with its default, its configuration field and other facts. */
export function describeFlag(spec: FlagSpec): string {
  const hasDefault = !["", "[]", "false", "0"].includes(spec.default);
  const replaced = spec.field !== undefined && spec.deprecated !== undefined;
  const facts = [
    ...(hasDefault ? [`default ${spec.default}`] : []),
    ...(replaced ? [`file: ${spec.field}`] : []),
    ...(spec.deprecated !== undefined && !replaced ? [`deprecated: ${spec.deprecated}`] : []),
    ...(spec.idle === undefined ? [] : [`without effect: ${spec.idle}`]),
    ...(spec.effective || spec.idle !== undefined || spec.group === "Deprecated" ? [] : ["not yet effective"]),
  ];
  return facts.length === 0 ? spec.about : `${spec.about} (${facts.join("; ")})`;
}

function optionOf(spec: FlagSpec, heading: string | undefined): Option {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const option = new Option(`${short}--${spec.name} ${valueName(spec)}`, describeFlag(spec));
  return option.helpGroup(heading ?? `${spec.group}:`);
}

/** Returns a command with these flags, for its help: nothing parses with it. `heading` replaces those of the groups in its help. */
export function flagCommand(name: string, about: string, specs: readonly FlagSpec[], heading?: string): Command {
  const command = new Command(name);
  command.description(about).usage("[flags]");
  command.configureHelp({
    helpWidth: HELP_WIDTH,
    minWidthToWrap: 20,
    // A switch takes a value only after `=`.
    optionTerm: (option) => option.flags.replace(/ \[(\w+)\]$/, "[=$1]"),
  });
  command.helpCommand(false);
  const inOrder = FLAG_GROUPS.flatMap((group) => specs.filter((spec) => spec.group === group));
  for (const spec of inOrder) command.addOption(optionOf(spec, heading));
  command.addHelpOption(new Option("-h, --help", "Print this help and exit").helpGroup(heading ?? "General:"));
  return command;
}
