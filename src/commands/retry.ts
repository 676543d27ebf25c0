/** `rxlet retry POD`: asks the kubelet's authenticated server to try a pod that waits in a backoff again at once. */
import { ignoreElements, type Observable, switchMap, tap } from "rxjs";
import type { RetryOptions } from "../cli/retryFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";
import { podPage, type Screen } from "./showPage.ts";

/** Prints what the kubelet said and completes; errors with what it refused. */
export const retryPod = ({ namespace, pod, target }: RetryOptions, screen: Screen): Observable<never> =>
  targetServer(target).pipe(
    switchMap((server) =>
      askKubelet("POST", `${server.url}${podPage(namespace, pod, "retry")}`, server.access, systemClock).pipe(
        unanswered(server),
        tap(({ status, text }) => {
          const said = text.trim().slice(0, 1_000);
          if (status === 404) throw kubeletError("NotFound", said);
          const unexpected = `${server.url} answered ${status}: ${said}`;
          if (status !== 200) throw refusalOf(server, status, said) ?? kubeletError("Unknown", unexpected);
          screen.write(`${said}\n`);
        }),
      ),
    ),
    ignoreElements(),
  );
