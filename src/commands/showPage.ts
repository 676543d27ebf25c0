/** Prints a page that a running kubelet serves. */
import { ignoreElements, type Observable, switchMap, tap } from "rxjs";
import type { ShowOptions } from "../cli/showFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";

/** The output for text. */
export interface Screen {
  write(text: string): unknown;
}

/** Characters printed of an answer that is no page: all problems of a refused pod fit in. */
const MAX_ANSWER = 10_000;

/** Asks for the page at `path`, prints it and completes; errors with what is wrong with pod or server. `what` it serves is for errors. */
export const showPage = (
  path: string,
  what: string,
  { target, format }: ShowOptions,
  screen: Screen,
): Observable<never> =>
  targetServer(target).pipe(
    switchMap((server) =>
      askKubelet("GET", `${server.url}${path}?format=${format}`, server.access, systemClock).pipe(
        unanswered(server, "its read-only server is off unless readOnlyPort is set"),
        tap(({ status, text }) => {
          const said = text.trim().slice(0, MAX_ANSWER);
          if (status === 404 && /^(no )?pod "/.test(said)) throw kubeletError("NotFound", said);
          const unexpected = `${server.url} serves no ${what}: it answered ${status} ${said}`;
          if (status !== 200) throw refusalOf(server, status, said) ?? kubeletError("Unknown", unexpected);
          screen.write(text.endsWith("\n") ? text : `${text}\n`);
        }),
      ),
    ),
    ignoreElements(),
  );

/** Path of a page about one pod. */
export const podPage = (namespace: string, pod: string, page: string): string =>
  `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/${page}`;
