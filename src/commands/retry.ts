/** `rxlet retry POD`: asks the kubelet's authenticated server to try a pod that waits in a backoff again at once. */
import { catchError, ignoreElements, type Observable, tap, throwError } from "rxjs";
import type { RetryOptions } from "../cli/retryFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";

/** Prints what the kubelet said and completes; errors with what it refused. */
export function retryPod(options: RetryOptions, screen: { write(text: string): unknown }): Observable<never> {
  const { namespace, pod, server, ...access } = options;
  const path = `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/retry`;
  return askKubelet("POST", `${server}${path}`, access).pipe(
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return throwError(() =>
        code === "Unavailable" ? kubeletError(code, `no answer from ${server}: ${message}`) : thrown,
      );
    }),
    tap(({ status, text }) => {
      const said = text.trim().slice(0, 1_000);
      if (status === 401)
        throw kubeletError("PermissionDenied", `${server} does not know you: give a certificate or token`);
      if (status === 404) throw kubeletError("NotFound", said);
      if (status !== 200) throw kubeletError("PermissionDenied", `${server} answered ${status}: ${said}`);
      screen.write(`${said}\n`);
    }),
    ignoreElements(),
  );
}
