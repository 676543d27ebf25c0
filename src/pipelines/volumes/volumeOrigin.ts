/**
 * The origin of a volume outside of its pod: the PersistentVolume behind a claim, the driver of a CSI volume, the
 * CSI volume that replaces an in-tree one. Stateless. Bounds: those of a claim's look-ups; one timer until the drivers are known.
 */
import { distinctUntilChanged, map, type Observable, of, startWith, switchMap, timeout } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { migratedInline } from "../../core/csi/migratedVolumes.ts";
import { ok, type Result } from "../../core/result.ts";
import type { CsiOrigin } from "../../core/volume/csiVolume.ts";
import { claimOf } from "../../core/volume/volumeClaim.ts";
import type { Volume, VolumeOrigin } from "../../core/volume/volumeLayout.ts";
import type { ClusterObjects } from "../../ports/clusterObjects.ts";
import { followClaim, type VolumeClaimsDeps } from "./volumeClaims.ts";

export interface VolumeOriginDeps extends VolumeClaimsDeps {
  /** Undefined on a standalone node. */
  readonly csiDrivers$: ClusterObjects["csiDrivers$"] | undefined;
}

/** Maximum wait of a volume for the first list of drivers. */
const SYNC_MS = 1_000;

/** Emits the origin, and again after each change; follows drivers while subscribed. Never errors. */
export function followOrigin(pod: Pod, volume: Volume, deps: VolumeOriginDeps): Observable<Result<VolumeOrigin>> {
  const reference = claimOf(pod, volume);
  if (reference !== undefined) {
    return followClaim(pod, reference, deps).pipe(
      switchMap((found) => (found.ok ? withDriver(found.value, deps) : of(found))),
    );
  }
  const migrated = migratedInline(volume, pod.metadata.namespace);
  if (migrated !== undefined) return migrated.ok ? withDriver(migrated.value, deps) : of(migrated);
  const { name, csi } = volume;
  if (csi === undefined) return withDriver({ name }, deps);
  const { driver, ...source } = csi;
  return withDriver({ name, csi: { driver, mode: "Ephemeral", source } }, deps);
}

function withDriver(origin: VolumeOrigin, deps: VolumeOriginDeps): Observable<Result<VolumeOrigin>> {
  const { csi } = origin;
  return csi === undefined
    ? of(ok(origin))
    : driverOf(csi, deps).pipe(map((reported) => ok({ ...origin, csi: reported })));
}

function driverOf(csi: CsiOrigin, { csiDrivers$, clock }: VolumeOriginDeps): Observable<CsiOrigin> {
  if (csiDrivers$ === undefined) return of(csi);
  const known$ = csiDrivers$.pipe(
    map((drivers) => drivers.get(csi.driver) ?? "absent"),
    distinctUntilChanged(),
    map((known): CsiOrigin => ({ ...csi, known })),
  );
  return known$.pipe(timeout({ first: SYNC_MS, with: () => known$.pipe(startWith(csi)), scheduler: clock.scheduler }));
}
