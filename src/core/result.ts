/**
 * Outcome of a fallible step. Inside a pipeline errors are values; the error channel means that the source itself
 * failed.
 */
import type { KubeletError } from "./errors.ts";

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: KubeletError };

/** Returns a success. */
export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

/** Returns a failure. */
export const err = (error: KubeletError): Result<never> => ({ ok: false, error });

/** Returns the value or throws the error, for code that handles all errors in one place. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}
