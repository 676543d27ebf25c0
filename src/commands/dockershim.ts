/** `rxlet dockershim`: a CRI server over Docker for any kubelet, until a signal. Containers keep running. */
import { Observable, switchMap } from "rxjs";
import type { DockershimOptions } from "../cli/dockershimFlags.ts";
import { systemClock } from "../sources/systemClock.ts";
import { createLogger } from "../sinks/logger.ts";
import { unhandledErrors } from "../sources/unhandledErrors.ts";
import { startDockershim } from "./startDockershim.ts";

/** Serves until `stop$` emits, then completes. Errors when it cannot serve. */
export function dockershim(options: DockershimOptions, stop$: Observable<unknown>): Observable<never> {
  const log = createLogger({ format: "text", verbosity: 0, wallTime: () => systemClock.wallTime() });
  const { socket: socketPath, stateDir } = options;
  return new Observable<never>((subscriber) => {
    const fail = (error: unknown): void => subscriber.error(error);
    subscriber.add(
      unhandledErrors().subscribe({
        next: ({ kind, error }) => log.error(`Unhandled ${kind}`, { error }),
        error: fail,
      }),
    );
    const started = startDockershim({ docker: options, socketPath, stateDir, isInCluster: false, log });
    started.catch(fail);
    subscriber.add(
      stop$.pipe(switchMap(() => started)).subscribe({
        next: (shim) => {
          shim.close().then(() => subscriber.complete(), fail);
        },
        error: fail,
      }),
    );
  });
}
