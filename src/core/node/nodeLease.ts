/** The lease that reports that a node is alive. Upstream: newLease of component-helpers' lease controller. */
import type { ApiObjects } from "../api/apiResources.ts";
import type { EpochMs } from "../ids.ts";
import { civilTime, formatInstant } from "../time/civilTime.ts";

export type Lease = ApiObjects["leases"];

export const LEASE_NAMESPACE = "kube-node-lease";

/** The fields of a lease besides its times. */
export interface LeaseHolder {
  readonly nodeName: string;
  /** UID of the Node that owns the lease; undefined while it is unknown. */
  readonly nodeUid: string | undefined;
  readonly durationSeconds: number;
}

/** Returns a new lease, or `base` renewed. */
export function renewedLease(base: Lease | undefined, holder: LeaseHolder, now: EpochMs): Lease {
  const { nodeName, nodeUid, durationSeconds } = holder;
  const owner = nodeUid === undefined ? undefined : { apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      ...(base?.metadata ?? { name: nodeName, namespace: LEASE_NAMESPACE }),
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      holderIdentity: nodeName,
      ...base?.spec,
      leaseDurationSeconds: durationSeconds,
      renewTime: microTime(now),
    },
  };
}

/** Formats RFC 3339 with microseconds. */
const microTime = (at: EpochMs): string =>
  formatInstant(at).replace("Z", `.${String(civilTime(at).micros).padStart(6, "0")}Z`);
