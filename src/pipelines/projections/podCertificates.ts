/**
 * The certificates of pods: requested and renewed while a volume is followed, forgotten afterwards. Owns the issued
 * credentials and their keys, in memory only. Bounds: one request and one set of credentials per projection. Upstream:
 * the IssuingManager of pkg/kubelet/podcertificate.
 */
import { concat, defer, finalize, map, merge, NEVER, type Observable, of, switchMap, tap } from "rxjs";
import {
  certificateKey,
  type Credentials,
  credentialsState,
  type IssuedCredentials,
  OVERDUE_AFTER_MS,
  type PodCertificateWish,
  usableCredentials,
} from "../../core/cert/podCertificate.ts";
import { goQuote } from "../../core/container/goJson.ts";
import { epochMs } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { untilWallTime } from "../../operators/untilWallTime.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { type Decision, issueRepeatedly, type PodCertificateIssueDeps } from "./podCertificateIssue.ts";

/** A change of a followed certificate, or a warning about it for an event of the pod. */
export type CertificateNews =
  | { readonly kind: "changed" }
  | { readonly kind: "warning"; readonly reason: string; readonly message: string };

export interface PodCertificates {
  /** Has the certificate issued and renewed while subscribed. Never errors, never completes. */
  follow(wish: PodCertificateWish): Observable<CertificateNews>;
  /** Returns the current credentials of a followed projection. */
  get(wish: PodCertificateWish): Result<IssuedCredentials>;
}

export interface PodCertificatesDeps extends PodCertificateIssueDeps {
  readonly metrics: Metrics;
}

interface Entry {
  readonly wish: PodCertificateWish;
  readonly credentials: Credentials;
}

/** Creates the certificates of a node; requests nothing before a volume needs it. */
export function createPodCertificates(deps: PodCertificatesDeps): PodCertificates {
  const { clock } = deps;
  const entries = new Map<string, Entry>();
  const count = createStateGauge(deps.metrics, clock);
  const set = (key: string, entry: Entry): void => {
    entries.set(key, entry);
    count(key, entry);
  };
  return {
    follow: (wish) =>
      defer(() => {
        const key = certificateKey(wish);
        set(key, { wish, credentials: { kind: "none" } });
        const decisions$ = concat(issueRepeatedly(wish, deps), NEVER);
        return decisions$.pipe(
          switchMap((credentials) => {
            const entry = { wish, credentials };
            set(key, entry);
            const warnings$ = warnings(wish, credentials, clock).pipe(tap(() => count(key, entry)));
            return merge(of({ kind: "changed" } as const), warnings$);
          }),
          finalize(() => {
            entries.delete(key);
            count(key, undefined);
          }),
        );
      }),
    get: (wish) => usableCredentials(entries.get(certificateKey(wish))?.credentials),
  };
}

/**
 * Emits the warnings about a decision: at once for a denied or failed request; for a certificate when its refresh is
 * overdue, and when it has expired. Differs from upstream: includes the message of a denial or failure, for which
 * upstream's format string lacks the verb.
 */
function warnings({ pod }: PodCertificateWish, decision: Decision, clock: Clock): Observable<CertificateNews> {
  const warning = (reason: string, message: string): CertificateNews => ({ kind: "warning", reason, message });
  if (decision.kind === "refused") {
    const { how, reason, message } = decision;
    const what = `PodCertificateRequest of pod ${pod.namespace}/${pod.name} ${how === "Denied" ? "was denied" : "failed"}`;
    return of(warning(how, `${what}, reason=${goQuote(reason)}, message=${goQuote(message)}`));
  }
  const { beginRefreshAt, notAfter } = decision;
  return merge(
    untilWallTime(clock, epochMs(beginRefreshAt + OVERDUE_AFTER_MS + 1)).pipe(
      map(() => warning("CertificateOverdueForRefresh", "PodCertificate refresh overdue")),
    ),
    untilWallTime(clock, epochMs(notAfter + 1)).pipe(
      map(() => warning("CertificateExpired", "PodCertificate expired")),
    ),
  );
}

interface StateLabel {
  readonly signer_name: string;
  readonly state: string;
}

/**
 * Returns a function that counts one certificate in the gauge of certificates by signer and state, or no longer counts
 * it when the entry is undefined; drops empty series.
 */
function createStateGauge(metrics: Metrics, clock: Clock) {
  const NAME = "kubelet_podcertificate_states";
  const labels = new Map<string, StateLabel>();
  const counts = new Map<string, number>();
  const add = (label: StateLabel, change: number): void => {
    const series = `${label.signer_name} ${label.state}`;
    const count = (counts.get(series) ?? 0) + change;
    if (count > 0) counts.set(series, count);
    else counts.delete(series);
    if (count > 0) metrics.gauge(NAME, count, { ...label });
    else metrics.dropGauge(NAME, { ...label });
  };
  return (key: string, entry: Entry | undefined): void => {
    const before = labels.get(key);
    if (before !== undefined) add(before, -1);
    labels.delete(key);
    if (entry === undefined) return;
    const { wish, credentials } = entry;
    const label = { signer_name: wish.projection.signerName, state: credentialsState(credentials, clock.wallTime()) };
    labels.set(key, label);
    add(label, 1);
  };
}
