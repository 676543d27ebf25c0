/** `rxlet explain POD`: what happened to a pod and what it waits for now, asked of the kubelet's read-only server. */
import { catchError, ignoreElements, type Observable, tap, throwError } from "rxjs";
import type { ExplainOptions } from "../cli/explainFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { textOf } from "../sources/textOf.ts";

/** Prints the timeline and completes; errors with what is wrong with pod or server. */
export function explain(
  { namespace, pod, server, format }: ExplainOptions,
  screen: { write(text: string): unknown },
): Observable<never> {
  const path = `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/timeline`;
  return textOf(`${server}${path}?format=${format}`).pipe(
    catchError((thrown: unknown) => {
      const hint = "its read-only server is off unless readOnlyPort is set; --port or --server say where it listens";
      return throwError(() =>
        kubeletError("Unavailable", `no rxlet answers at ${server} (${toKubeletError(thrown).message}): ${hint}`),
      );
    }),
    tap(({ status, text }) => {
      const said = text.trim().slice(0, 1_000);
      if (status === 404 && said.startsWith("no pod ")) throw kubeletError("NotFound", said);
      if (status !== 200) throw kubeletError("Unknown", `${server} serves no timelines: it answered ${status} ${said}`);
      screen.write(text.endsWith("\n") ? text : `${text}\n`);
    }),
    ignoreElements(),
  );
}
