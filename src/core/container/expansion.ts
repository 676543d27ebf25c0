/** `$(NAME)` references in environment values, commands and arguments. Counterpart: third_party/forked/golang/expansion. */

/**
 * `text` with every `$(NAME)` replaced by its value. A name without value stays as written, `$$` is a plain `$` (so
 * `$$(NAME)` stays a reference), any other `$` is itself.
 */
export function expand(text: string, valueOf: (name: string) => string | undefined): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (reference, name: string | undefined) =>
    name === undefined ? "$" : (valueOf(name) ?? reference),
  );
}
