/**
 * The certificate of one projection, from the first request to the last renewal. Keeps the number of failures in a
 * row.
 */
import {
  catchError,
  concat,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  repeat,
  switchMap,
  take,
  takeWhile,
  tap,
  throwError,
} from "rxjs";
import type { Node } from "../../core/api.ts";
import {
  type Credentials,
  decidedCredentials,
  podCertificateRequest,
  type PodCertificateRequest,
  type PodCertificateWish,
} from "../../core/cert/podCertificate.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { untilWallTime } from "../../operators/untilWallTime.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Projections } from "../../ports/projections.ts";
import type { Rng } from "../../ports/random.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface PodCertificateIssueDeps extends NonNullable<Projections["podCertificates"]> {
  readonly api: Pick<ApiServer, "get" | "create">;
  readonly node: ReadonlyCell<Node | undefined>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

/** The decision of the signer. */
export type Decision = Exclude<Credentials, { readonly kind: "none" }>;

/** A request that is absent for this long was deleted. */
const ABANDONED_MS = 10 * 60_000;
/** Spreads the requests of pods that were created together. */
const JITTER_MS = 5 * 60_000;
const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/**
 * Emits every decision about the certificate; a denial is the last one.
 *
 *     requests    create----issued------------------create----issued
 *     decisions   ----------a-----------------------------------a'       the refresh begins up to 5 min after beginRefreshAt
 *
 * Cancels: the request or wait in flight; the object stays, and is removed with its pod. Errors: none; failures are
 * logged and retried after 1 s doubling to 1 min. Bound: one request at a time.
 */
export function issueRepeatedly(wish: PodCertificateWish, deps: PodCertificateIssueDeps): Observable<Decision> {
  const { clock, rng, log } = deps;
  return defer(() => {
    let failures = 0;
    let last: Decision | undefined;
    const attempt$ = defer(() => issueOnce(wish, deps)).pipe(
      tap((decision) => {
        failures = 0;
        last = decision;
      }),
      catchError((thrown: unknown) => {
        failures += 1;
        const { namespace, name } = wish.pod;
        const fields = { pod: `${namespace}/${name}`, volume: wish.volume, sourceIndex: wish.index };
        log.warn("Cannot have a certificate issued for a pod", { ...fields, error: toKubeletError(thrown) });
        return longTimer(clock, backoffDelay(BACKOFF, failures, rng)).pipe(ignoreElements());
      }),
    );
    const due$ = defer(() => (last?.kind === "issued" ? untilWallTime(clock, last.beginRefreshAt) : []));
    return concat(due$.pipe(ignoreElements()), attempt$).pipe(
      repeat(),
      takeWhile(({ kind }) => kind === "issued", true),
    );
  });
}

function issueOnce(wish: PodCertificateWish, deps: PodCertificateIssueDeps): Observable<Decision> {
  const { api, keys, node } = deps;
  const { pod, serviceAccount, projection } = wish;
  const { namespace } = pod;
  const account$ = api
    .get("serviceaccounts", { namespace, name: serviceAccount })
    .pipe(failing("while fetching service account"));
  const node$ = node.changes$.pipe(
    filter((known) => known?.metadata?.uid !== undefined),
    take(1),
  );
  return account$.pipe(
    switchMap((account) =>
      node$.pipe(
        map((known) => ({
          serviceAccountUid: account.metadata?.uid ?? "",
          nodeName: known?.metadata?.name ?? "",
          nodeUid: known?.metadata?.uid ?? "",
        })),
      ),
    ),
    switchMap((identities) =>
      keys.newKey(projection.keyType).pipe(
        failing("while generating keypair"),
        switchMap((key) =>
          api.create("podcertificaterequests", podCertificateRequest(wish, identities, key.request)).pipe(
            failing("while creating on API"),
            switchMap((made) => decisionAbout(made, key.pem, deps)),
          ),
        ),
      ),
    ),
  );
}

/** Waits as long as the signer takes, or the object exists. */
function decisionAbout(
  { metadata: { namespace = "", name = "" } = {} }: PodCertificateRequest,
  key: string,
  { requests$, clock, rng }: PodCertificateIssueDeps,
): Observable<Decision> {
  const found$ = requests$.pipe(
    map((requests) => (requests === "not served" ? undefined : requests.get(`${namespace}/${name}`))),
  );
  const decided$ = found$.pipe(
    map((found) => found && decidedCredentials(found, key, rng.next() * JITTER_MS)),
    filter((decision) => decision !== undefined),
  );
  const deleted$ = found$.pipe(
    filter((found) => found === undefined),
    switchMap(() =>
      throwError(() =>
        kubeletError("NotFound", `PodCertificateRequest "${namespace}/${name}" appears to have been deleted`),
      ),
    ),
  );
  const late$ = longTimer(clock, ABANDONED_MS + rng.next() * JITTER_MS).pipe(ignoreElements());
  return merge(decided$, concat(late$, deleted$)).pipe(take(1));
}

/** Passes on the failure with a description of the failed operation. */
const failing = <T>(what: string): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    const error = toKubeletError(thrown);
    return throwError(() => ({ ...error, message: `${what}: ${error.message}` }));
  });
