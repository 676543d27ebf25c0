/**
 * `rxlet retry POD`: resets the backoffs of a pod through the kubelet's authenticated server, so it retries at once.
 */
import { ignoreElements, type Observable, switchMap, tap } from "rxjs";
import type { RetryOptions } from "../cli/retryFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";
import { podPage, type Screen } from "./showPage.ts";

/** Prints the kubelet's response and completes. Errors: the kubelet rejects the request or cannot be reached. */
export const retryPod = ({ namespace, pod, target }: RetryOptions, screen: Screen): Observable<never> =>
  targetServer(target).pipe(
    switchMap((server) =>
      askKubelet("POST", `${server.url}${podPage(namespace, pod, "retry")}`, server.access, systemClock).pipe(
        unanswered(server),
        tap(({ status, text }) => {
          const said = text.trim().slice(0, 1_000);
          if (status === 404) throw kubeletError("NotFound", said);
          const unexpected = `${server.name} answered ${status}: ${said}`;
          if (status !== 200) throw refusalOf(server, status, said) ?? kubeletError("Unknown", unexpected);
          screen.write(`${said}\n`);
        }),
      ),
    ),
    ignoreElements(),
  );
