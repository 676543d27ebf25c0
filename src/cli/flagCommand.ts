/** A commander command made from a flag table: it collects the texts of each flag and writes the help by groups. */
import { Command, Option } from "commander";
import { FLAG_GROUPS, type FlagSpec, type FlagType } from "./flagSpec.ts";

const HELP_WIDTH = 120;

/** How the value of each type is shown. */
const VALUE_NAMES: Readonly<Record<FlagType, string>> = {
  string: "<text>",
  bool: "[bool]",
  int: "<number>",
  int32: "<number>",
  int64: "<number>",
  duration: "<duration>",
  ip: "<ip>",
  quantity: "<quantity>",
  stringSlice: "<a,b>",
  mapStringString: "<a=b,c=d>",
  mapStringBool: "<a=true,b=false>",
  colonSeparatedMultimapStringString: "<name:value,name:value>",
  "[]v1.Taint": "<key=value:effect>",
  "reserved-memory": "<0:memory=1Gi>",
  Level: "<level>",
  "pattern=N,...": "<pattern=N>",
  version: "[raw]",
};

function valueName(spec: FlagSpec): string {
  return spec.pairs === "lessThan" ? "<a<b,c<d>" : VALUE_NAMES[spec.type];
}

function describe(spec: FlagSpec): string {
  const hasDefault = !["", "[]", "false", "0"].includes(spec.default);
  const replaced = spec.field !== undefined && spec.deprecated !== undefined;
  const facts = [
    ...(hasDefault ? [`default ${spec.default}`] : []),
    ...(replaced ? [`file: ${spec.field}`] : []),
    ...(spec.deprecated !== undefined && !replaced ? [`deprecated: ${spec.deprecated}`] : []),
    ...(spec.effective || spec.group === "Deprecated" ? [] : ["not yet effective"]),
  ];
  return facts.length === 0 ? spec.about : `${spec.about} (${facts.join("; ")})`;
}

function optionOf(spec: FlagSpec): Option {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const option = new Option(`${short}--${spec.name} ${valueName(spec)}`, describe(spec));
  option.helpGroup(`${spec.group}:`);
  return option.argParser((text: string, previous: readonly string[] | undefined) => [...(previous ?? []), text]);
}

/** A command with these flags; it neither exits nor prints. */
export function flagCommand(name: string, about: string, specs: readonly FlagSpec[]): Command {
  const command = new Command(name);
  command.description(about).usage("[flags]").exitOverride();
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  command.configureHelp({
    helpWidth: HELP_WIDTH,
    minWidthToWrap: 20,
    subcommandTerm: (sub) => `${sub.name()} ${sub.usage()}`,
    // A switch takes a value only after `=`.
    optionTerm: (option) => option.flags.replace(/ \[(\w+)\]$/, "[=$1]"),
  });
  command.helpCommand(false).action(() => undefined);
  const inOrder = FLAG_GROUPS.flatMap((group) => specs.filter((spec) => spec.group === group));
  for (const spec of inOrder) command.addOption(optionOf(spec));
  command.addHelpOption(new Option("-h, --help", "Print this help and exit").helpGroup("General:"));
  return command;
}

/** The texts given to each flag, by flag name, in the order of the (canonical) command line. */
export function collectTexts(
  command: Command,
  canonical: readonly string[],
  specs: readonly FlagSpec[],
): ReadonlyMap<string, readonly string[]> {
  command.parse([...canonical], { from: "user" });
  const texts = new Map<string, readonly string[]>();
  for (const spec of specs) {
    const option = command.options.find(({ long }) => long === `--${spec.name}`);
    const given = option === undefined ? undefined : command.getOptionValue(option.attributeName());
    if (Array.isArray(given)) texts.set(spec.name, given.map(String));
  }
  return texts;
}
