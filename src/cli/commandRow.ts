/** A row of the table of sub-commands. Help, parsing and suggestions read the same row. */
import type { FlagSpec } from "./flagSpec.ts";
import type { SubInvocation, WrongInvocation } from "./invocation.ts";
import type { ParsedFlags } from "./parseKubeletFlags.ts";

/** A row of the table. */
export interface SubCommand {
  readonly name: SubInvocation["command"];
  /** The arguments before the flags, as help shows them; empty without any. */
  readonly args: string;
  /** Maximum number of arguments. */
  readonly maxArgs: number;
  /** A line for the list of commands; it starts with a verb. */
  readonly about: string;
  /** Further lines for the help of the command itself. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly flags: readonly FlagSpec[];
  read(parsed: ParsedFlags): SubInvocation | WrongInvocation;
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

/** Creates a row whose `read` returns the options or all errors. */
export function row<Name extends SubInvocation["command"]>(
  name: Name,
  texts: Omit<SubCommand, "name" | "read">,
  read: (parsed: ParsedFlags) => Read<Omit<Extract<SubInvocation, { readonly command: Name }>, "command">>,
): SubCommand {
  return {
    name,
    ...texts,
    read: (parsed) => {
      const found = read(parsed);
      // The options are those of the command with this name.
      return found.ok
        ? ({ command: name, ...found.options } as unknown as SubInvocation)
        : { command: "error", errors: found.errors };
    },
  };
}
