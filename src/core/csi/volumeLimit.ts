/**
 * The number of volumes that a node may have of a CSI driver, where the driver's CSIDriver asks for it to be kept current
 * (`nodeAllocatableUpdatePeriodSeconds`). Upstream: csi_node_updater.go and VerifyExhaustedResource of csi_plugin.go.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { GrpcStatus } from "../grpcStatus.ts";
import type { CsiDriver } from "../volume/csiVolume.ts";
import type { CsiDrivers } from "./csiDriverFacts.ts";

/** The API's shortest period. */
const MIN_PERIOD_SECONDS = 10;

/** Returns the period of a driver in milliseconds; undefined: its limit is never asked for again. */
export function limitPeriodMs(driver: CsiDriver["spec"] | undefined): number | undefined {
  const seconds = driver?.nodeAllocatableUpdatePeriodSeconds ?? 0;
  return seconds <= 0 ? undefined : Math.max(MIN_PERIOD_SECONDS, seconds) * 1_000;
}

/** A driver whose limit is kept current. */
export interface FollowedDriver {
  readonly name: string;
  /** Path of its socket. */
  readonly endpoint: string;
  readonly periodMs: number;
}

/** Returns the registered drivers whose CSIDriver has a period, by name. */
export const followedDrivers = (
  registered: CsiDrivers,
  known: ReadonlyMap<string, CsiDriver>,
): ReadonlyMap<string, FollowedDriver> =>
  new Map(
    [...registered.values()].flatMap(({ name, endpoint }) => {
      const periodMs = limitPeriodMs(known.get(name)?.spec);
      return periodMs === undefined ? [] : [[name, { name, endpoint, periodMs }] as const];
    }),
  );

/** Returns whether the volume was not attached because the node has too many. Upstream: isResourceExhaustError. */
export const isExhausted = ({ status }: Pick<ApiObjects["volumeattachments"], "status">): boolean =>
  status?.attachError?.errorCode === GrpcStatus.resourceExhausted;
