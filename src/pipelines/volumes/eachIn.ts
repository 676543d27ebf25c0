/** Reads directories of the node at start. A directory that cannot be read keeps nobody from starting. */
import { catchError, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

type Ports = Pick<RemovalPorts, "files" | "telemetry">;

/** Runs a read of the path to its end, and logs its failure. Never errors. */
export const guardedRead = ({ telemetry }: Ports, path: string, read$: Observable<unknown>): Observable<never> =>
  read$.pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      telemetry.log.warn("Cannot tell which volumes are staged", { path, error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );

/** Runs `found` for each name in the directory, one after another. Never errors. */
export const eachIn = (ports: Ports, path: string, found: (name: string) => Observable<never>): Observable<never> =>
  guardedRead(ports, path, ports.files.list(path).pipe(switchMap((names) => inSequence(names, found))));
