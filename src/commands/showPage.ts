/** Prints a page that a running kubelet serves on its read-only port. */
import { catchError, ignoreElements, type Observable, tap, throwError } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { textOf } from "../sources/textOf.ts";

/** Where text goes. */
export interface Screen {
  write(text: string): unknown;
}

/** Asks for the page at `path`, prints it and completes; errors with what is wrong with pod or server. `what` it serves is for errors. */
export const showPage = (
  path: string,
  what: string,
  { server, format }: ShowOptions,
  screen: Screen,
): Observable<never> =>
  textOf(`${server}${path}?format=${format}`).pipe(
    catchError((thrown: unknown) => {
      const hint = "its read-only server is off unless readOnlyPort is set; --port or --server say where it listens";
      return throwError(() =>
        kubeletError("Unavailable", `no rxlet answers at ${server} (${toKubeletError(thrown).message}): ${hint}`),
      );
    }),
    tap(({ status, text }) => {
      const said = text.trim().slice(0, 1_000);
      if (status === 404 && said.startsWith("no pod ")) throw kubeletError("NotFound", said);
      if (status !== 200) throw kubeletError("Unknown", `${server} serves no ${what}: it answered ${status} ${said}`);
      screen.write(text.endsWith("\n") ? text : `${text}\n`);
    }),
    ignoreElements(),
  );

/** Path of a page about one pod. */
export const podPage = (namespace: string, pod: string, page: string): string =>
  `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/${page}`;
