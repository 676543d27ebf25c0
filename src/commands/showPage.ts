/** Prints a page that a running kubelet serves. */
import { catchError, ignoreElements, type Observable, tap, throwError } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";

/** Where text goes. */
export interface Screen {
  write(text: string): unknown;
}

/** Asks for the page at `path`, prints it and completes; errors with what is wrong with pod or server. `what` it serves is for errors. */
export const showPage = (
  path: string,
  what: string,
  { server, format, ...access }: ShowOptions,
  screen: Screen,
): Observable<never> =>
  askKubelet("GET", `${server}${path}?format=${format}`, access).pipe(
    catchError((thrown: unknown) => {
      if (toKubeletError(thrown).code !== "Unavailable") return throwError(() => thrown);
      const hint = "its read-only server is off unless readOnlyPort is set; --port or --server say where it listens";
      return throwError(() =>
        kubeletError("Unavailable", `no rxlet answers at ${server} (${toKubeletError(thrown).message}): ${hint}`),
      );
    }),
    tap(({ status, text }) => {
      const said = text.trim().slice(0, 1_000);
      if (status === 404 && said.startsWith("no pod ")) throw kubeletError("NotFound", said);
      if (status === 401)
        throw kubeletError("PermissionDenied", `${server} does not know you: give a certificate or token`);
      if (status === 403) throw kubeletError("PermissionDenied", `${server}: ${said}`);
      if (status !== 200) throw kubeletError("Unknown", `${server} serves no ${what}: it answered ${status} ${said}`);
      screen.write(text.endsWith("\n") ? text : `${text}\n`);
    }),
    ignoreElements(),
  );

/** Path of a page about one pod. */
export const podPage = (namespace: string, pod: string, page: string): string =>
  `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/${page}`;
