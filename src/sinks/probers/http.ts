/**
 * HTTP probes, and the GET of lifecycle hooks. Bounds: the timeout covers connecting, redirects and body; 10 KiB of
 * body. Upstream: pkg/probe/http, pkg/kubelet/lifecycle.
 */
import type { LookupFunction } from "node:net";
import { catchError, of, throwError } from "rxjs";
import { LONG_CALL_DEADLINE_MS } from "../../core/criOperations.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { ProbeOutcome } from "../../core/probe/probeTypes.ts";
import type { HttpTarget } from "../../core/probe/probeTarget.ts";
import { httpOutcome } from "../../core/probe/serverAnswers.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HookAnswer, HttpProbeRequest } from "../../ports/probers.ts";
import { GetFailure, type GetProgress, httpGet, newProgress } from "./httpGet.ts";
import { dialTimeout } from "./netError.ts";

const failure = (output: string): ProbeOutcome => ({ result: "failure", output });

function lateText({ stage, url, address }: GetProgress): string {
  const waited = "(Client.Timeout exceeded while awaiting headers)";
  switch (stage) {
    case "dial":
      return `Get ${JSON.stringify(url)}: ${dialTimeout(address)} ${waited}`;
    case "headers":
      return `Get ${JSON.stringify(url)}: context deadline exceeded ${waited}`;
    case "body":
      return "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
  }
}

/** Runs one HTTP probe. A response that breaks off in its body is an error, as upstream: the attempt does not count. */
export function httpProbe(
  { target, timeoutMs }: HttpProbeRequest,
  clock: Clock,
  lookup?: LookupFunction,
): Call<ProbeOutcome> {
  const progress = newProgress();
  return fromCall(async (signal): Promise<ProbeOutcome> => {
    try {
      const { status, body } = await httpGet(target, signal, progress, lookup);
      return httpOutcome(status, body);
    } catch (thrown) {
      if (thrown instanceof GetFailure && thrown.stage !== "body") return failure(thrown.message);
      throw thrown;
    }
  }).pipe(
    deadline(timeoutMs, clock),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.code !== "DeadlineExceeded") return throwError(() => kubeletError("Io", error.message));
      const text = lateText(progress);
      if (progress.stage !== "body") return of(failure(text));
      return throwError(() => kubeletError("DeadlineExceeded", text));
    }),
  );
}

/** Sends the GET of a hook and accepts any response; retries once over HTTP if the server does not speak HTTPS. */
export function httpHook(target: HttpTarget, clock: Clock, lookup?: LookupFunction): Call<HookAnswer> {
  return fromCall(async (signal): Promise<HookAnswer> => {
    try {
      await httpGet(target, signal, newProgress(), lookup);
      return { fellBack: false };
    } catch (thrown) {
      if (!(thrown instanceof GetFailure)) throw thrown;
      // The response has arrived; its body does not matter.
      if (thrown.stage === "body") return { fellBack: false };
      if (!thrown.isPlainAnswer) throw kubeletError("Io", thrown.message);
      const plain = target.headers.filter(([name]) => name.toLowerCase() !== "authorization");
      try {
        await httpGet({ ...target, scheme: "http", headers: plain }, signal, newProgress(), lookup);
        return { fellBack: true };
      } catch {
        throw kubeletError("Io", thrown.message);
      }
    }
  }).pipe(deadline(LONG_CALL_DEADLINE_MS, clock));
}
