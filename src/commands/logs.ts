/** `rxlet logs POD`: prints the log of a container from the kubelet's `/containerLogs` route. */
import type { IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ignoreElements, type Observable, switchMap } from "rxjs";
import type { LogsOptions } from "../cli/podCommandFlags.ts";
import { chosenContainer } from "../core/dev/defaultContainer.ts";
import { kubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { valueOf } from "../core/result.ts";
import { fromCall } from "../operators/fromCall.ts";
import { openBody, type Refusal } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";
import { podOfKubelet } from "./podOfKubelet.ts";
import type { Screen } from "./showPage.ts";

/** Prints the log to `out` and the name of a default container to `notes`; completes at the end of the log. */
export const logs = (options: LogsOptions, out: Writable, notes: Screen): Observable<never> =>
  targetServer(options.target).pipe(
    switchMap((server) =>
      podOfKubelet(server, options.namespace, options.pod).pipe(
        switchMap((pod) => {
          const { name, notice } = valueOf(chosenContainer(pod, options.container));
          if (notice !== undefined) notes.write(`${notice}\n`);
          const path = [options.namespace, options.pod, name].map(encodeURIComponent).join("/");
          const url = `${server.url}/containerLogs/${path}?${new URLSearchParams(options.query)}`;
          return openBody(url, server.access, systemClock).pipe(unanswered(server));
        }),
        switchMap((answer) => {
          if (!("status" in answer)) return printed(answer, out);
          const { status, text } = answer;
          throw refusalOf(server, status, text) ?? kubeletError("Unknown", text);
        }),
      ),
    ),
    ignoreElements(),
  );

/** A closed output ends the log without an error. */
const printed = (log: Exclude<IncomingMessage | Refusal, Refusal>, out: Writable): Observable<unknown> =>
  fromCall(async (signal) => {
    await pipeline(log, out, { signal, end: false }).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "EPIPE") throw kubeletError("Unavailable", "the connection broke off", { cause: thrown });
    });
  });
