/** Parses the command line of the daemon into typed flag values. */
import type { FlagSpec } from "./flagSpec.ts";
import { propertyOfFlag } from "./flags.ts";
import { type FlagValue, parseFlagValue } from "./flagValues.ts";
import { readArguments } from "./readArguments.ts";

/** A flag that was given, with its value. */
export interface GivenFlag {
  readonly spec: FlagSpec;
  readonly value: unknown;
}

/** Flags of a command line. */
export interface ParsedFlags {
  readonly given: readonly GivenFlag[];
  readonly positional: readonly string[];
  /** The arguments after `--`; undefined without it. They are positional, too. */
  readonly afterDashes: readonly string[] | undefined;
  readonly help: boolean;
  readonly errors: readonly string[];
}

/** Parses `argv` with a flag table; `listedBy` is the command line that lists the flags. */
export function parseFlags(
  argv: readonly string[],
  specs: readonly FlagSpec[],
  listedBy = "rxlet --help",
): ParsedFlags {
  const line = readArguments(argv, specs, listedBy);
  const given: GivenFlag[] = [];
  const errors = [...line.errors];
  for (const spec of specs) {
    const own = line.texts.get(spec.name);
    if (own === undefined) continue;
    const parsed = parseFlagValue(spec, own);
    if (parsed.ok) given.push({ spec, value: parsed.value });
    else errors.push(...parsed.faults.map((fault) => `--${spec.name}: ${fault}`));
  }
  const { positional, afterDashes, help } = line;
  return { given, positional, afterDashes, help, errors };
}

/** Returns the default of a flag, parsed from its printed form. */
export function defaultOfFlag(spec: FlagSpec): unknown {
  const noTexts = spec.default === "" || spec.default === "[]";
  const parsed: FlagValue = parseFlagValue(spec, noTexts ? [""] : [spec.default]);
  return parsed.ok ? parsed.value : undefined;
}

/** Returns the values of flags that set no configuration field, by property name. */
export function ownFlagValues(
  given: readonly GivenFlag[],
  specs: readonly FlagSpec[],
): Readonly<Record<string, unknown>> {
  const values = new Map<string, unknown>();
  for (const spec of specs) values.set(propertyOfFlag(spec.name), defaultOfFlag(spec));
  for (const { spec, value } of given) if (spec.field === undefined) values.set(propertyOfFlag(spec.name), value);
  return Object.fromEntries(values);
}
