/**
 * API objects that projected volumes use, in addition to the objects that pods name. Each resource has one watch, open
 * while a volume on the node needs it.
 */
import type { Observable } from "rxjs";
import type { PodCertificateRequest } from "../core/cert/podCertificate.ts";
import type { TrustBundle } from "../core/cert/trustAnchors.ts";
import type { PodKeys } from "./podKeys.ts";

/** All objects by key; "not served" when this server does not have the resource. */
export type Followed<T> = ReadonlyMap<string, T> | "not served";

export interface Projections {
  /**
   * ClusterTrustBundles by name. Emits the latest value on subscription and again on every change. Never errors. Absent
   * when the feature is off.
   */
  readonly trustBundles$?: Observable<Followed<TrustBundle>>;
  /** Absent when the feature is off. */
  readonly podCertificates?: {
    /** PodCertificateRequests of this node by `namespace/name`; emits like `trustBundles$`. */
    readonly requests$: Observable<Followed<PodCertificateRequest>>;
    readonly keys: PodKeys;
  };
}
