/**
 * Requests of `rxlet top` about one pod. Failures are texts for the user. All requests use one session on a local socket, as
 * long as the node knows it.
 */
import { catchError, defer, map, type Observable, of, switchMap, tap } from "rxjs";
import type { KubeletTarget } from "../cli/targetFlags.ts";
import type { PodPage } from "../cli/top/topPod.ts";
import type { PageAnswer } from "../cli/top/topState.ts";
import { pageLines } from "../cli/top/topText.ts";
import { toKubeletError } from "../core/errors.ts";
import { LIVE_HEADER, LIVE_PATHS } from "../core/live/liveMessages.ts";
import { askKubelet, type TextAnswer } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type TargetServer, targetServer } from "./targetServer.ts";

/** Requests to one node. None errors. */
export interface TopRequests {
  /** Emits the lines of the page, or why there are none. */
  page(page: PodPage): Observable<PageAnswer>;
  /** Resets the backoffs of a pod, and emits the answer. */
  retry(pod: { readonly namespace: string; readonly name: string }): Observable<string>;
}

/** Keeps the server that it found, until the server asks for new credentials. */
export function createTopRequests(target: KubeletTarget): TopRequests {
  let known: TargetServer | undefined;
  const found = (): Observable<TargetServer> =>
    known === undefined ? targetServer(target).pipe(tap((server) => (known = server))) : of(known);
  const answered = (ask: (server: TargetServer) => Observable<TextAnswer>): Observable<TextAnswer> =>
    defer(() => {
      const isOld = known !== undefined;
      return found().pipe(
        switchMap(ask),
        switchMap((answer) => {
          if (answer.status !== 401) return of(answer);
          known = undefined;
          return isOld ? found().pipe(switchMap(ask)) : of(answer);
        }),
      );
    });
  return {
    page: (page) =>
      answered(({ url, access }) => askKubelet("GET", `${url}${pathOf(page)}`, access, systemClock)).pipe(
        map(({ status, text }): PageAnswer => {
          if (status !== 200) return said({ status, text });
          return pageLines(text, page.kind === "log" ? "end" : "beginning");
        }),
        catchError((thrown: unknown) => of(toKubeletError(thrown).message)),
      ),
    retry: ({ namespace, name }) =>
      answered(({ url, access }) =>
        askKubelet("POST", `${url}${LIVE_PATHS.retry(namespace, name)}`, access, systemClock, {
          headers: { [LIVE_HEADER]: "1" },
        }),
      ).pipe(
        map(said),
        catchError((thrown: unknown) => of(toKubeletError(thrown).message)),
      ),
  };
}

const pathOf = (page: PodPage): string =>
  page.kind === "log"
    ? LIVE_PATHS.logs(page.namespace, page.name, page.container)
    : `${LIVE_PATHS.timeline(page.namespace, page.name)}?format=text`;

/** Returns the text of an answer, which the status stands for when it is empty. */
const said = ({ status, text }: TextAnswer): string => text.trim() || `the node answered ${status}`;
