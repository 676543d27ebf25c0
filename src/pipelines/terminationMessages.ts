/**
 * Reads what containers left in their termination message files, once per exit. Bound: 4096 bytes per container from
 * the file, 2048 bytes or 80 lines from the log. Counterpart: getTerminationMessage.
 */
import { catchError, forkJoin, map, type Observable, of, switchMap } from "rxjs";
import type { PodRuntimeStatus, RuntimeContainer } from "../core/runtime/podRuntimeStatus.ts";
import {
  logTailMessage,
  MAX_LOG_MESSAGE_BYTES,
  MAX_TERMINATION_MESSAGE_BYTES,
} from "../core/runtime/terminationMessage.ts";
import type { Files } from "../ports/files.ts";

/** `status` with the messages of its newly exited containers filled in; those known keep theirs. */
export function readTerminationMessages(
  status: PodRuntimeStatus,
  previous: PodRuntimeStatus | undefined,
  files: Files,
): Observable<PodRuntimeStatus> {
  const known = new Map(previous?.containers.filter((c) => c.state === "exited").map((c) => [c.id, c]));
  const fresh = status.containers.filter((c) => c.state === "exited" && !known.has(c.id));
  if (fresh.length === 0) return of(status);
  return forkJoin(fresh.map((container) => messageOf(container, files))).pipe(
    map((messages) => {
      const byId = new Map(fresh.map((container, index) => [container.id, messages[index] ?? ""]));
      return {
        ...status,
        containers: status.containers.map((c) => ({ ...c, message: byId.get(c.id) || c.message })),
      };
    }),
  );
}

function messageOf(container: RuntimeContainer, files: Files): Observable<string> {
  const unreadable = catchError<string, Observable<string>>(() => of(""));
  const fromFile =
    container.terminationMessageFile === undefined
      ? of("")
      : files.readTail(container.terminationMessageFile, MAX_TERMINATION_MESSAGE_BYTES).pipe(unreadable);
  return fromFile.pipe(
    switchMap((text) => {
      const policy = container.annotations["io.kubernetes.container.terminationMessagePolicy"];
      if (text !== "" || policy !== "FallbackToLogsOnError" || container.exitCode === 0) return of(text);
      return files.readTail(container.logPath, MAX_LOG_MESSAGE_BYTES * 4).pipe(map(logTailMessage), unreadable);
    }),
  );
}
