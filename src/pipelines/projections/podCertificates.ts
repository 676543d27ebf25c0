/**
 * The certificates of pods: requested and renewed while a volume is followed, forgotten afterwards. Owns the issued
 * credentials and their keys, in memory only. Bounds: one request and one set of credentials per projection. Upstream:
 * the IssuingManager of pkg/kubelet/podcertificate.
 */
import { concat, defer, finalize, map, merge, NEVER, type Observable, of, switchMap } from "rxjs";
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
  const count = createStateGauge(deps.metrics);
  const reported = (news: CertificateNews): CertificateNews => {
    count([...entries.values()], clock);
    return news;
  };
  const set = (key: string, entry: Entry): void => {
    entries.set(key, entry);
    count([...entries.values()], clock);
  };
  return {
    follow: (wish) =>
      defer(() => {
        const key = certificateKey(wish);
        set(key, { wish, credentials: { kind: "none" } });
        const decisions$ = concat(issueRepeatedly(wish, deps), NEVER);
        return decisions$.pipe(
          switchMap((credentials) => {
            set(key, { wish, credentials });
            return merge(of({ kind: "changed" } as const), warnings(wish, credentials, clock).pipe(map(reported)));
          }),
          finalize(() => {
            entries.delete(key);
            count([...entries.values()], clock);
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

/** Returns a function that sets the gauge of certificates by signer and state, and drops empty series. */
function createStateGauge(metrics: Metrics) {
  const NAME = "kubelet_podcertificate_states";
  let shown = new Map<string, { readonly signer_name: string; readonly state: string }>();
  return (entries: readonly Entry[], clock: Clock): void => {
    const counts = new Map<string, number>();
    const labels = new Map<string, { readonly signer_name: string; readonly state: string }>();
    for (const { wish, credentials } of entries) {
      const label = { signer_name: wish.projection.signerName, state: credentialsState(credentials, clock.wallTime()) };
      const key = `${label.signer_name} ${label.state}`;
      labels.set(key, label);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, label] of shown) if (!labels.has(key)) metrics.dropGauge(NAME, label);
    for (const [key, label] of labels) metrics.gauge(NAME, counts.get(key) ?? 0, label);
    shown = labels;
  };
}
