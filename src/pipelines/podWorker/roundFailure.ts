/**
 * Failures of a pod's round as outputs. An effect that fails emits its failure and completes, so that other effects
 * continue; the round collects the failures and is repeated (podRound.ts).
 */
import { concat, defer, filter, type Observable, type OperatorFunction, tap } from "rxjs";
import type { KubeletError } from "../../core/errors.ts";
import type { PodOutput } from "../podOutputs.ts";

/** A failed effect of a round. */
export interface RoundFailure {
  readonly kind: "failed";
  readonly error: KubeletError;
}

/** An output of a round before its failures are collected. */
export type RoundOutput = PodOutput | RoundFailure;

/** Wraps an error as an output. */
export const failed = (error: KubeletError): RoundFailure => ({ kind: "failed", error });

const isFailure = (output: { readonly kind: string }): output is RoundFailure => output.kind === "failed";

/** Removes the failures from the outputs and adds their errors to the caller's list. */
export const collectFailures = (into: KubeletError[]): OperatorFunction<RoundOutput, PodOutput> =>
  filter((output): output is PodOutput => {
    if (output.kind === "failed") into.push(output.error);
    return output.kind !== "failed";
  });

/** Passes on all outputs, failures too, then continues with `next`, which receives the errors of these failures. */
export const andThen =
  <R>(next: (errors: readonly KubeletError[]) => Observable<R>) =>
  <T extends { readonly kind: string }>(source$: Observable<T>): Observable<T | R> =>
    defer(() => {
      const errors: KubeletError[] = [];
      const noted$ = source$.pipe(
        tap((output) => {
          if (isFailure(output)) errors.push(output.error);
        }),
      );
      return concat(
        noted$,
        defer(() => next(errors)),
      );
    });
