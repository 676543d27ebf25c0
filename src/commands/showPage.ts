/** Prints a page that a running kubelet serves. */
import { ignoreElements, type Observable, switchMap, tap } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";

/** A destination for text. */
export interface Screen {
  write(text: string): unknown;
}

/** Maximum number of printed characters of an error response; all problems of a rejected pod fit. */
const MAX_ANSWER = 10_000;

/**
 * Requests the page at `path`, prints it and completes. Errors: the pod is unknown, or the server cannot answer. `what`
 * names the page in errors. `query`: parameters of the page besides its format.
 */
export const showPage = (
  path: string,
  what: string,
  { target, format }: ShowOptions,
  screen: Screen,
  query: Readonly<Record<string, number | undefined>> = {},
): Observable<never> =>
  targetServer(target).pipe(
    switchMap((server) =>
      askKubelet("GET", `${server.url}${path}?format=${format}${parameters(query)}`, server.access, systemClock).pipe(
        unanswered(server, "its read-only server is off unless readOnlyPort is set"),
        tap(({ status, text }) => {
          const said = text.trim().slice(0, MAX_ANSWER);
          if (status === 404 && /^(no )?pod "/.test(said)) throw kubeletError("NotFound", said);
          const unexpected = `${server.name} serves no ${what}: it answered ${status} ${said}`;
          if (status !== 200) throw refusalOf(server, status, said) ?? kubeletError("Unknown", unexpected);
          screen.write(text.endsWith("\n") ? text : `${text}\n`);
        }),
      ),
    ),
    ignoreElements(),
  );

const parameters = (query: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(query)
    .map(([name, value]) => (value === undefined ? "" : `&${name}=${value}`))
    .join("");

/** Returns the path of a page about one pod. */
export const podPage = (namespace: string, pod: string, page: string): string =>
  `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/${page}`;
