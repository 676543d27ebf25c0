/**
 * Bounds the text generated for one container: references repeat values, and ConfigMaps, Secrets, files, annotations
 * and services can be referenced any number of times. Differs from upstream, which generates any amount and can run out
 * of memory.
 */
import { err, ok, type Result } from "../result.ts";
import { utf8Length } from "../utf8Length.ts";
import { containerConfigError } from "./configError.ts";
import { expand } from "./expansion.ts";

/**
 * Limit for environment, command and arguments of one container: Linux starts no program with more. A CRI request may
 * have 16 MiB.
 */
export const MAX_CONTAINER_TEXT_BYTES = 6 * 1024 * 1024;

/** The remaining budget of one container. */
export interface TextBudget {
  /** Counts bytes generated for a field such as `env[3]`. The error names container, field and bound. */
  take(field: string, bytes: number): Result<undefined>;
  /** Expands the references in a field's text and counts the result. */
  expand(field: string, text: string, valueOf: (name: string) => string | undefined): Result<string>;
}

/** Creates a budget; `what` describes its purpose in errors. */
export function textBudget(container: string, what: string): TextBudget {
  let left = MAX_CONTAINER_TEXT_BYTES;
  const refuse = (field: string): Result<never> =>
    containerConfigError(
      `container "${container}": ${field}: ${what} must be at most ${MAX_CONTAINER_TEXT_BYTES} bytes in all`,
    );
  const take = (field: string, bytes: number): Result<undefined> => {
    if (bytes > left) return refuse(field);
    left -= bytes;
    return ok(undefined);
  };
  return {
    take,
    expand(field, text, valueOf) {
      const expanded = expand(text, valueOf, left);
      if (expanded === undefined) return refuse(field);
      const taken = take(field, utf8Length(expanded));
      return taken.ok ? ok(expanded) : err(taken.error);
    },
  };
}

/** Creates the budget for environment, command and arguments. */
export const programText = (container: string): TextBudget =>
  textBudget(container, "environment, command and arguments");
