/**
 * Exceptions and rejections of this process that no code handles. While subscribed they no longer end the process,
 * which is Node's default. Bound: none of its own; the subscriber limits its log lines.
 */
import { Observable } from "rxjs";
import { InvariantError } from "../core/invariant.ts";

export interface UnhandledError {
  readonly kind: "exception" | "rejection";
  readonly error: unknown;
}

/**
 * Emits each unhandled error.
 *
 *     callback throws     --e-----
 *     promise rejects     -----e--
 *
 * Cancels: restores Node's default. Errors: a broken invariant, which ends the process.
 */
export const unhandledErrors = (): Observable<UnhandledError> =>
  new Observable((subscriber) => {
    const reporter =
      (kind: UnhandledError["kind"]) =>
      (error: unknown): void => {
        if (error instanceof InvariantError) subscriber.error(error);
        else subscriber.next({ kind, error });
      };
    const [exception, rejection] = [reporter("exception"), reporter("rejection")];
    process.on("uncaughtException", exception);
    process.on("unhandledRejection", rejection);
    return () => {
      process.off("uncaughtException", exception);
      process.off("unhandledRejection", rejection);
    };
  });
