/** `rxlet retry POD`: asks the kubelet's authenticated server to try a pod that waits in a backoff again at once. */
import { ignoreElements, type Observable, tap } from "rxjs";
import type { RetryOptions } from "../cli/retryFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { postTo } from "../sinks/postTo.ts";

/** Prints what the kubelet said and completes; errors with what it refused. */
export function retryPod(options: RetryOptions, screen: { write(text: string): unknown }): Observable<never> {
  const { namespace, pod, server, ...access } = options;
  const path = `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/retry`;
  return postTo(`${server}${path}`, access).pipe(
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
