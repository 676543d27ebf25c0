/** Outcome of a fallible step. Inside a pipeline errors are values; the error channel means "this source is gone". */
import type { KubeletError } from "./errors.ts";

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: KubeletError };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const err = (error: KubeletError): Result<never> => ({ ok: false, error });

/** The value; throws the error, for code that answers for all errors in one place. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}
