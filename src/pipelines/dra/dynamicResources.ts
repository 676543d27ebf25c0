/**
 * ResourceClaims of the node's pods, as pod workers use them. Upstream: pkg/kubelet/cm/dra.
 */
import { defer, type Observable } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { type ClaimInfos, claimsUsedBy } from "../../core/dra/claimInfo.ts";
import { containerCdiDevices } from "../../core/dra/containerDevices.ts";
import { hasClaims, podClaims } from "../../core/dra/podClaims.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { Result } from "../../core/result.ts";
import type { DraDriverMap } from "../../ports/draDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import { createClaimTable } from "./claimTable.ts";
import { claimKeys, createClaimLocks, type DraContext } from "./draContext.ts";
import { prepareClaims } from "./prepareClaims.ts";
import { unprepareClaims } from "./unprepareClaims.ts";

/** The claims of all pods. */
export interface DynamicResources {
  /** Reads the claims of earlier kubelets; completes before any other call. Never errors. */
  load(): Observable<never>;
  /** Completes with one result; a success is on disk. Never errors. */
  prepare(pod: Pod): Observable<Result<undefined>>;
  /** Completes with one result, like `prepare`. Only for a pod of which nothing runs. */
  unprepare(uid: PodUid, pod: Pod | undefined): Observable<Result<undefined>>;
  /** Returns whether each claim of the pod was prepared for it, by this kubelet or an earlier one. */
  isKnown(pod: Pod): boolean;
  /** Returns whether the pod may have claims to unprepare. */
  mayHold(uid: PodUid, pod: Pod | undefined): boolean;
  /** Returns the names of the CDI devices of a container. Errors: a claim of it is not prepared. */
  devicesOf(pod: Pod, container: Container): Result<readonly string[]>;
  /** Returns the names of the registered drivers, sorted. */
  driverNames(): readonly string[];
  /** Returns what a failed attempt depended on: another value is a reason to try again at once. */
  basisOf(pod: Pod): unknown;
}

/** Creates the only owner of the cell `claims`. */
export function createDynamicResources(
  ports: Pick<KubeletPorts, "api" | "clock" | "telemetry" | "files">,
  config: Pick<KubeletConfig, "directories" | "draGates">,
  drivers: ReadonlyCell<DraDriverMap>,
  claims: Cell<ClaimInfos>,
): DynamicResources {
  const table = createClaimTable(ports, config, claims);
  const { extendedResources: withExtendedResources } = config.draGates;
  const context: DraContext = { ports, table, drivers, locks: createClaimLocks(), withExtendedResources };
  const driverNames = (): readonly string[] => [...drivers.value.keys()].sort();
  return {
    load: () => defer(() => table.load()),
    prepare: (pod) => prepareClaims(context, pod),
    unprepare: (uid, pod) => unprepareClaims(context, uid, pod),
    isKnown: (pod) => {
      const named = podClaims(pod, withExtendedResources);
      const used = new Set(claimsUsedBy(table.value, pod.metadata.uid));
      return named.ok && claimKeys(pod, named.value).every((key) => used.has(key));
    },
    mayHold: (uid, pod) =>
      (table.value.size > 0 && claimsUsedBy(table.value, uid).length > 0) ||
      (table.isIncomplete && pod !== undefined && hasClaims(pod)),
    devicesOf: (pod, container) => containerCdiDevices(pod, container, table.value, withExtendedResources),
    driverNames,
    basisOf: (pod) => [podClaims(pod, withExtendedResources), driverNames()],
  };
}
