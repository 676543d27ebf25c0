/**
 * Requests a certificate from the API server. Bounds: one watch, 15 minutes. Upstream: RequestCertificate and
 * WaitForCertificate in client-go's util/certificate/csr.
 */
import {
  catchError,
  defer,
  filter,
  map,
  type Observable,
  of,
  repeat,
  retry,
  startWith,
  switchMap,
  take,
  throwError,
} from "rxjs";
import { type SigningRequest, type SigningVerdict, signingVerdict } from "../../core/cert/signingRequest.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { ApiServer, ApiWatchEvent } from "../../ports/apiServer.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";

/** Maximum time until a request is approved and signed. */
const APPROVAL_WAIT_MS = 15 * 60_000;
const WATCH_AGAIN_MS = 1_000;
const RESOURCE = "certificatesigningrequests";

/**
 * Sends the request and waits for its certificate, PEM. If a request of that name exists already, waits for that one.
 *
 *     server            create--watch---approved---issued
 *     issueCertificate  -----------------------------(c|)
 *
 * Cancels: the request or watch in flight; the object stays. Errors: Rejected if the request is denied or failed, or
 * its object is removed; DeadlineExceeded after APPROVAL_WAIT_MS; those of the server for the first request. Bound:
 * one watch at a time, restarted a second after it ended.
 */
export const issueCertificate = (api: ApiServer, request: SigningRequest, clock: Clock): Call<string> =>
  api.create(RESOURCE, request).pipe(
    catchError((thrown: unknown) => {
      const name = request.metadata?.name;
      const isThere = toKubeletError(thrown).code === "AlreadyExists" && name !== undefined;
      return isThere ? api.get(RESOURCE, { name }) : throwError(() => thrown);
    }),
    switchMap((made) => verdicts(api, made, clock)),
    switchMap((verdict) =>
      verdict.kind === "issued"
        ? of(verdict.certificate)
        : throwError(() => kubeletError("Rejected", verdict.kind === "refused" ? verdict.message : "not signed")),
    ),
    deadline(APPROVAL_WAIT_MS, clock, () =>
      kubeletError("DeadlineExceeded", "certificate request was not signed: timed out waiting for the condition"),
    ),
  );

/** Emits the first final verdict. */
function verdicts(api: ApiServer, made: SigningRequest, clock: Clock): Observable<SigningVerdict> {
  const { uid, name = "" } = made.metadata ?? {};
  const again = () => longTimer(clock, WATCH_AGAIN_MS);
  const watched$ = defer(() => api.watch(RESOURCE, { fieldSelector: `metadata.name=${name}` })).pipe(
    map((event) => verdictOf(event, uid)),
    retry({ delay: again }),
    repeat({ delay: again }),
  );
  return watched$.pipe(
    startWith(signingVerdict(made, uid)),
    filter(({ kind }) => kind !== "pending"),
    take(1),
  );
}

/** Throws for an event that ends the watch. */
function verdictOf(event: ApiWatchEvent<SigningRequest>, uid: string | undefined): SigningVerdict {
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
      return signingVerdict(event.object, uid);
    case "DELETED":
      return { kind: "refused", message: `csr "${event.object.metadata?.name}" was deleted` };
    case "BOOKMARK":
      return { kind: "pending" };
    case "ERROR":
      throw kubeletError("Expired", "the watch of the request has ended");
  }
}
