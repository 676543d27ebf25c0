/** `rxlet runtime`: the embedded CRI server. SIGTERM stops its containers, SIGINT leaves them to the next runtime. */
import { Observable } from "rxjs";
import type { RuntimeOptions } from "../cli/subCommands.ts";
import { unhandledErrors } from "../sources/unhandledErrors.ts";
import { runEmbeddedRuntime } from "../embeddedRuntime/runEmbeddedRuntime.ts";

/** Serves until the signal, then completes. Errors when it cannot serve. */
export function embeddedRuntime(
  { socket, stateDir }: RuntimeOptions,
  stop$: Observable<NodeJS.Signals>,
): Observable<never> {
  return new Observable<never>((subscriber) => {
    subscriber.add(
      unhandledErrors().subscribe({
        next: ({ kind, error }) => {
          const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
          process.stderr.write(`rxlet runtime: unhandled ${kind}: ${text}\n`);
        },
        error: (error: unknown) => subscriber.error(error),
      }),
    );
    const started = runEmbeddedRuntime({ socketPath: socket, stateDir });
    started.catch((error: unknown) => subscriber.error(error));
    subscriber.add(
      stop$.subscribe({
        next: (signal) => {
          started
            .then((runtime) => runtime.close({ stopContainers: signal === "SIGTERM" }))
            .then(
              () => subscriber.complete(),
              (error: unknown) => subscriber.error(error),
            );
        },
        error: (error: unknown) => subscriber.error(error),
      }),
    );
  });
}
