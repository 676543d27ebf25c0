/**
 * Bound on the text a pod's owner can have made for one container: references repeat values, and ConfigMaps, Secrets,
 * files, annotations and services can be named again and again.
 * Differs from upstream, which makes any amount of it and runs out of memory.
 */
import { err, ok, type Result } from "../result.ts";
import { utf8Length } from "../utf8Length.ts";
import { containerConfigError } from "./configError.ts";
import { expand } from "./expansion.ts";

/**
 * Environment, command and arguments of one container: Linux starts no program with more. A request to the runtime has
 * room for 16 MiB.
 */
export const MAX_CONTAINER_TEXT_BYTES = 6 * 1024 * 1024;

/** What one container may still be given. */
export interface TextBudget {
  /** Counts bytes made for a field such as `env[3]`; the error names container, field and bound. */
  take(field: string, bytes: number): Result<undefined>;
  /** Replaces the references in a field's text and counts the result. */
  expand(field: string, text: string, valueOf: (name: string) => string | undefined): Result<string>;
}

/** A fresh budget; `what` says in errors what it is for. */
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

/** The budget of what a container's program is started with. */
export const programText = (container: string): TextBudget =>
  textBudget(container, "environment, command and arguments");
