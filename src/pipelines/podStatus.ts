/**
 * Keeps the API status of every pod: the newest one wins, and a status with the same meaning is no change. Owner of
 * the podStatuses cell. Bound: one entry per pod. Upstream: pkg/kubelet/status status_manager.go.
 */
import { filter, map, type Observable, tap } from "rxjs";
import type { PodStatus } from "../core/api.ts";
import type { PodUid } from "../core/ids.ts";
import { sameValue } from "../core/sameValue.ts";
import type { KeyedCell } from "../state/keyedCell.ts";
import type { PodOutput } from "./podOutputs.ts";

/** A changed status. */
export interface StatusChange {
  readonly uid: PodUid;
  readonly status: PodStatus;
}

/** Emits statuses as they change. */
export function podStatus(
  inputs: { readonly outputs$: Observable<PodOutput> },
  podStatuses: KeyedCell<PodUid, PodStatus>,
): Observable<StatusChange> {
  return inputs.outputs$.pipe(
    map((output) => {
      if (output.kind === "removed") podStatuses.delete(output.uid);
      return output.kind === "status" ? { uid: output.uid, status: output.status } : undefined;
    }),
    filter((change) => change !== undefined && !sameValue(podStatuses.get(change.uid), change.status)),
    filter((change) => change !== undefined),
    tap(({ uid, status }) => podStatuses.set(uid, status)),
  );
}
