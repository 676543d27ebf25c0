/**
 * What projected volumes are made of beside the objects that pods name: followed by one watch each, while some volume on
 * the node asks for it.
 */
import type { Observable } from "rxjs";
import type { PodCertificateRequest } from "../core/cert/podCertificate.ts";
import type { TrustBundle } from "../core/cert/trustAnchors.ts";
import type { PodKeys } from "./podKeys.ts";

/** All objects by key; "not served" by this server. */
export type Followed<T> = ReadonlyMap<string, T> | "not served";

export interface Projections {
  /** By name, at once for who comes later, again whenever that changed. Never errors. Absent: not to be used. */
  readonly trustBundles$?: Observable<Followed<TrustBundle>>;
  /** Absent: not to be used. */
  readonly podCertificates?: {
    /** Those of this node by `namespace/name`, likewise. */
    readonly requests$: Observable<Followed<PodCertificateRequest>>;
    readonly keys: PodKeys;
  };
}
