/** Replaces a failure that does not matter by another value. */
import { catchError, type ObservableInput, type OperatorFunction } from "rxjs";
import { rethrowInvariant } from "../core/invariant.ts";

/**
 * Continues with `fallback` when the source errors, whatever the error is.
 *
 *     source        --a--#
 *     fallback           b|
 *     orElse        --a--b|
 *
 * Cancels: the source, or the fallback. Errors: a broken invariant, which no stage handles, and the fallback's own. Bound:
 * one subscription at a time.
 */
export const orElse = <T, R>(fallback: () => ObservableInput<R>): OperatorFunction<T, T | R> =>
  catchError((thrown: unknown) => {
    rethrowInvariant(thrown);
    return fallback();
  });
