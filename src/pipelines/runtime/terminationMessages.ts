/**
 * Reads the termination message of each container that has exited, once: from its file, or, when the file is empty, the
 * container failed and its policy is FallbackToLogsOnError, from the end of its log. Bound: 4096 bytes from the file,
 * 2048 bytes or 80 lines from the log. Upstream: getTerminationMessage.
 */
import { catchError, forkJoin, map, type Observable, of, switchMap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../../core/runtime/podRuntimeStatus.ts";
import {
  joinedMessage,
  LOG_TAIL_BYTES,
  logTailMessage,
  MAX_TERMINATION_MESSAGE_BYTES,
} from "../../core/runtime/terminationMessage.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

type Ports = Pick<KubeletPorts, "files" | "logFiles">;

/** Returns `status` with the messages of newly exited containers; known messages stay. */
export function readTerminationMessages(
  status: PodRuntimeStatus,
  previous: PodRuntimeStatus | undefined,
  ports: Ports,
): Observable<PodRuntimeStatus> {
  const known = new Map(previous?.containers.filter((c) => c.state === "exited").map((c) => [c.id, c]));
  const fresh = status.containers.filter((c) => c.state === "exited" && !known.has(c.id));
  if (fresh.length === 0) return of(status);
  return forkJoin(fresh.map((container) => messageOf(container, ports))).pipe(
    map((messages) => {
      const byId = new Map(fresh.map((container, index) => [container.id, messages[index] ?? ""]));
      return {
        ...status,
        containers: status.containers.map((c) => ({ ...c, message: joinedMessage(c.message, byId.get(c.id) ?? "") })),
      };
    }),
  );
}

function messageOf(container: RuntimeContainer, ports: Ports): Observable<string> {
  const { terminationMessageFile: file, annotations, exitCode, reason, logPath } = container;
  const policy = annotations["io.kubernetes.container.terminationMessagePolicy"];
  // A container that never ran has no log.
  const asksLog = policy === "FallbackToLogsOnError" && exitCode !== 0 && reason !== "ContainerCannotRun";
  const fromFile$ =
    file === undefined
      ? of("")
      : ports.files.readTail(file, MAX_TERMINATION_MESSAGE_BYTES).pipe(
          catchError((thrown: unknown) => {
            const { code, message } = toKubeletError(thrown);
            return of(code === "NotFound" ? "" : `Error on reading termination log ${file}: ${message}`);
          }),
        );
  return fromFile$.pipe(switchMap((text) => (text === "" && asksLog ? fromLog(logPath, ports) : of(text))));
}

const fromLog = (path: string, { logFiles }: Ports): Observable<string> =>
  logFiles.tail(path, LOG_TAIL_BYTES).pipe(
    map(logTailMessage),
    catchError((thrown: unknown) =>
      of(`Error on reading termination message from logs: ${toKubeletError(thrown).message}`),
    ),
  );
