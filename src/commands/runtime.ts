/**
 * `rxlet runtime`: the embedded CRI server. SIGTERM stops its containers, SIGINT leaves them to the next runtime. With
 * `--end-with-stdin` the end of its standard input, which its parent holds, kills the containers and removes the
 * parent's paths (parentEnd.ts).
 */
import { defer, EMPTY, firstValueFrom, from, map, merge, Observable, race, take, timer } from "rxjs";
import type { RuntimeOptions } from "../cli/subCommands.ts";
import { type EmbeddedRuntime, runEmbeddedRuntime } from "../embeddedRuntime/runEmbeddedRuntime.ts";
import { systemClock } from "../sources/systemClock.ts";
import { unhandledErrors } from "../sources/unhandledErrors.ts";
import { pathsUntilEnd, removeLeft } from "./parentEnd.ts";

/** Time for killed containers to end. Later ones hang in the kernel; the parent's paths are removed anyway. */
const ORPHAN_KILL_MS = 15_000;

const report = (line: string): void => void process.stderr.write(`rxlet runtime: ${line}\n`);

/** Ends a serving runtime. */
type Ending = (runtime: EmbeddedRuntime) => Promise<void>;

/** Serves until the signal, then completes. Errors when it cannot serve. */
export function embeddedRuntime(
  { socket, stateDir, endWithStdin }: RuntimeOptions,
  stop$: Observable<NodeJS.Signals>,
): Observable<never> {
  const signalled$ = stop$.pipe(
    map(
      (signal): Ending =>
        (runtime) =>
          runtime.close({ stopContainers: signal === "SIGTERM" }),
    ),
  );
  const ending$ = merge(signalled$, endWithStdin ? orphaned() : EMPTY).pipe(take(1));
  return new Observable<never>((subscriber) => {
    subscriber.add(
      unhandledErrors().subscribe({
        next: ({ kind, error }) => {
          const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
          report(`unhandled ${kind}: ${text}`);
        },
        error: (error: unknown) => subscriber.error(error),
      }),
    );
    const started = runEmbeddedRuntime({ socketPath: socket, stateDir });
    started.catch((error: unknown) => subscriber.error(error));
    subscriber.add(
      ending$.subscribe({
        next: (end) => {
          started.then(end).then(
            () => subscriber.complete(),
            (error: unknown) => subscriber.error(error),
          );
        },
        error: (error: unknown) => subscriber.error(error),
      }),
    );
  });
}

/** Emits when standard input ends, usually because the parent process was killed. */
function orphaned(): Observable<Ending> {
  const parent = process.ppid;
  return defer(() => from(pathsUntilEnd(process.stdin))).pipe(
    map(
      (paths): Ending =>
        async (runtime) => {
          report(`process ${parent} ended without stopping this runtime: killing its containers`);
          const closed = runtime.close({ stopContainers: true, graceMs: 0 });
          closed.catch((error: unknown) => report(String(error)));
          await firstValueFrom(race(from(closed), timer(ORPHAN_KILL_MS, systemClock.scheduler)));
          await removeLeft(paths, parent, report);
        },
    ),
  );
}
