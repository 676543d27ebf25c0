/**
 * Reads a command line in the dialect of upstream's flag library: `--flag value`, `--flag=value`, `--switch`,
 * `--switch=false`, `-v4`, underscores for dashes. docs/decisions/0007-commander-for-help.md says why commander does not.
 */
import { closestName } from "../core/config/closestName.ts";
import { type FlagSpec, isSwitch, valueName } from "./flagSpec.ts";

/** A command line taken apart. */
export interface ReadArguments {
  /** The values of each known flag that is given, by its name, in the order of the line. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly positional: readonly string[];
  /** The arguments after `--`; undefined without it. They are positional, too. */
  readonly afterDashes: readonly string[] | undefined;
  readonly help: boolean;
  readonly errors: readonly string[];
}

interface Token {
  readonly name: string;
  /** The argument as written, for messages. */
  readonly written: string;
  readonly value: string | undefined;
}

function longFlag(argument: string): Token {
  const at = argument.indexOf("=");
  const written = at < 0 ? argument : argument.slice(0, at);
  const name = written.slice(2).replaceAll("_", "-");
  return { name, written, value: at < 0 ? undefined : argument.slice(at + 1) };
}

function shortFlag(argument: string, specs: readonly FlagSpec[]): Token {
  const written = argument.slice(0, 2);
  const rest = argument.slice(2);
  const spec = specs.find(({ short }) => short === written.slice(1));
  const value = rest === "" ? undefined : rest.replace(/^=/, "");
  return { name: spec?.name ?? "", written, value };
}

/** `-it` as `-i` and `-t`: of switches one after the other, of which the last may have a value. */
function separated(argument: string, specs: readonly FlagSpec[]): readonly string[] {
  if (!/^-[^-]/.test(argument)) return [argument];
  const spec = specs.find(({ short }) => short === argument[1]);
  const isGroup = spec !== undefined && isSwitch(spec) && argument.length > 2 && argument[2] !== "=";
  return isGroup ? [argument.slice(0, 2), ...separated(`-${argument.slice(2)}`, specs)] : [argument];
}

function unknownFlag(token: Token, specs: readonly FlagSpec[], listedBy: string): string {
  const names = specs.map(({ name }) => name);
  const guess = token.name === "" ? undefined : closestName(token.name, names);
  return `${token.written}: unknown flag; ${guess === undefined ? `see ${listedBy}` : `did you mean --${guess}?`}`;
}

/** Takes a command line apart; never throws. `listedBy` is the command line that lists the flags. */
export function readArguments(argv: readonly string[], specs: readonly FlagSpec[], listedBy: string): ReadArguments {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const texts = new Map<string, string[]>();
  const take = ({ name }: FlagSpec, text: string): void => {
    const own = texts.get(name);
    if (own === undefined) texts.set(name, [text]);
    else own.push(text);
  };
  const positional: string[] = [];
  const errors: string[] = [];
  let help = false;
  let afterDashes: readonly string[] | undefined;
  const line = [...argv];
  for (let index = 0; index < line.length; index += 1) {
    line.splice(index, 1, ...separated(line[index] ?? "", specs));
    const argument = line[index] ?? "";
    if (argument === "--") {
      afterDashes = line.slice(index + 1);
      positional.push(...afterDashes);
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      positional.push(argument);
      continue;
    }
    const token = argument.startsWith("--") ? longFlag(argument) : shortFlag(argument, specs);
    if (token.name === "help" || token.written === "-h") {
      help = help || token.value !== "false";
      continue;
    }
    const spec = byName.get(token.name);
    const next = line[index + 1];
    if (spec === undefined) {
      errors.push(unknownFlag(token, specs, listedBy));
      // Likely the value of the unknown flag; taking it for an argument would only add noise.
      if (token.value === undefined && next !== undefined && !next.startsWith("-")) index += 1;
    } else if (token.value !== undefined) {
      take(spec, token.value);
    } else if (isSwitch(spec)) {
      take(spec, "true");
    } else if (next === undefined) {
      errors.push(`${token.written}: needs a value: ${token.written} ${valueName(spec)}`);
    } else {
      take(spec, next);
      index += 1;
    }
  }
  return { texts, positional, afterDashes, help, errors };
}
