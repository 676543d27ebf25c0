/**
 * The service account tokens of pods, requested from the API server and kept until the next one is due. Has no timer:
 * volumeWorker.ts gets a token again when it is due. Owns the tokens and the retry times. Bounds: one request per
 * token; entries are removed with their pod, or once expired. Upstream: pkg/kubelet/token/token_manager.go.
 */
import { catchError, defer, map, type Observable, of } from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { type MonotonicMs, monotonicMs } from "../../core/ids.ts";
import { err, ok, type Result } from "../../core/result.ts";
import {
  isDue,
  isExpired,
  issuedToken,
  type ServiceAccountToken,
  tokenKey,
  tokenName,
  tokenRequest,
  type TokenWish,
} from "../../core/token/serviceAccountToken.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { shareByKey } from "../../operators/shareByKey.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { KeptTokens } from "../../ports/keptTokens.ts";
import type { Rng } from "../../ports/random.ts";
import type { Logger } from "../../ports/telemetry.ts";

export interface TokensDeps {
  readonly api: Pick<ApiServer, "createSubresource">;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** Tokens on disk for a boot without the API server; undefined: none are kept. */
  readonly kept?: KeptTokens | undefined;
}

export interface Tokens {
  /** Returns a token that has not expired, or the reason why there is none: one value. Never errors. */
  get(wish: TokenWish): Observable<Result<ServiceAccountToken>>;
  /** Forgets the tokens of a removed pod. */
  forget(podUid: string): void;
}

interface Entry {
  readonly wish: TokenWish;
  token: ServiceAccountToken | undefined;
  failures: number;
  last: KubeletError | undefined;
  /** Earliest time of the next request after a failure. */
  againAt: MonotonicMs;
}

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/**
 * Creates the tokens of a node.
 *
 *     get(w)       a--------a'-------a'-----!        a' at once, while a request for the next one fails; ! once expired
 *     requests     (a)      --a'     --#
 */
export function createTokens(deps: TokensDeps): Tokens {
  const { clock, rng } = deps;
  const entries = new Map<string, Entry>();
  const requests = shareByKey<string, Result<ServiceAccountToken>>({
    start: (key) => {
      const entry = entries.get(key);
      return entry === undefined ? of(err(kubeletError("Cancelled", "the pod was removed"))) : request(entry, deps);
    },
  });
  const entryOf = (key: string, wish: TokenWish): Entry => {
    const now = clock.wallTime();
    for (const [known, { token }] of entries) {
      if (known !== key && token !== undefined && isExpired(token, now)) entries.delete(known);
    }
    const entry = entries.get(key) ?? fresh(wish, clock);
    entries.set(key, entry);
    return entry;
  };
  return {
    get: (wish) =>
      defer(() => {
        const key = tokenKey(wish);
        const entry = entryOf(key, wish);
        const { token } = entry;
        if (token !== undefined && !isDue(token, clock.wallTime(), rng.next())) return of(ok(token));
        if (clock.monotonicMs() < entry.againAt) return of(currentToken(entry, clock));
        return requests.join(key).pipe(map((issued) => (issued.ok ? issued : currentToken(entry, clock))));
      }),
    forget: (podUid) => {
      for (const [key, { wish }] of entries) if (wish.pod.uid === podUid) entries.delete(key);
    },
  };
}

const fresh = (wish: TokenWish, clock: Clock): Entry => ({
  wish,
  token: undefined,
  failures: 0,
  last: undefined,
  againAt: clock.monotonicMs(),
});

/** Returns the token that could not be renewed until it expires, then the error of the last request. */
function currentToken({ wish, token, last }: Entry, clock: Clock): Result<ServiceAccountToken> {
  if (token !== undefined && !isExpired(token, clock.wallTime())) return ok(token);
  const error = last ?? kubeletError("Cancelled", "the pod was removed");
  const what = token === undefined ? "failed to fetch token" : `token ${tokenName(wish)} expired and refresh failed`;
  return err({ ...error, message: `${what}: ${error.message}` });
}

function request(entry: Entry, { api, clock, rng, log, kept }: TokensDeps): Observable<Result<ServiceAccountToken>> {
  const { wish } = entry;
  const { namespace, serviceAccount, pod } = wish;
  const failed = (error: KubeletError): Result<never> => {
    entry.failures += 1;
    entry.last = error;
    const pauseMs = Math.max(error.retryAfterMs ?? 0, backoffDelay(BACKOFF, entry.failures, rng));
    entry.againAt = monotonicMs(clock.monotonicMs() + pauseMs);
    if (isAway(error)) entry.token ??= kept?.find(wish);
    const fields = { pod: `${namespace}/${pod.name}`, podUid: pod.uid, serviceAccount, error };
    log.warn("Couldn't update token", fields);
    return err(error);
  };
  return api.createSubresource("serviceaccounts/token", { namespace, name: serviceAccount }, tokenRequest(wish)).pipe(
    map((answer) => {
      const issued = issuedToken(answer, wish);
      if (!issued.ok) return failed(issued.error);
      kept?.keep(wish, issued.value);
      Object.assign(entry, { token: issued.value, failures: 0, last: undefined, againAt: clock.monotonicMs() });
      return issued;
    }),
    catchError((thrown: unknown) => of(failed(toKubeletError(thrown)))),
  );
}

/** Whether the server did not decide about the request. */
const isAway = ({ code }: KubeletError): boolean => code === "Unavailable" || code === "DeadlineExceeded";
