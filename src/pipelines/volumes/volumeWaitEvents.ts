/**
 * Writes events about the volumes a pod waits for: at once if waiting cannot help, else after a long wait, and again.
 * Bound: one timer per pod. Upstream: WaitForAttachAndMount of pkg/kubelet/volumemanager. Differs from upstream: a
 * wait that took too long is an event too, with the text of the error that upstream only logs.
 */
import { distinctUntilChanged, EMPTY, map, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { sameItems } from "../../core/sameValue.ts";
import { NO_VOLUMES, type PodVolumes, waitMessage } from "../../core/volume/podVolumes.ts";
import { usedVolumes } from "../../core/volume/volumeLayout.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";

/** Sources of the waits. */
export interface VolumeWaitDeps {
  readonly volumes: ReadonlyKeyedCell<PodUid, PodVolumes>;
  readonly ports: Pick<KubeletPorts, "clock">;
}

/** Wait for volumes before an event: upstream's podAttachAndMountTimeout. */
const REPORT_AFTER_MS = 123_000;

/**
 * Emits the events of one pod; `pods$` has the pod that needs its volumes, or `keep` for a terminating one. Never
 * errors.
 */
export function volumeWaitEvents(
  uid: PodUid,
  pods$: Observable<Pod | "keep" | undefined>,
  { volumes, ports }: VolumeWaitDeps,
): Observable<PodOutput> {
  // A changed spec of the pod, or its returned status, does not restart the wait.
  const waiting$ = pods$.pipe(
    map((pod) =>
      pod === undefined || pod === "keep" ? { pod: undefined, names: [] } : { pod, names: usedNames(pod) },
    ),
    distinctUntilChanged((before, now) => sameItems(before.names, now.names)),
  );
  return waiting$.pipe(
    switchMap(({ pod, names }) => {
      if (pod === undefined) return EMPTY;
      const message = (): string | undefined => waitMessage(names, volumes.get(uid) ?? NO_VOLUMES);
      const report = (): Observable<PodOutput> => {
        const text = message();
        if (text === undefined) return EMPTY;
        return of(eventOutput({ type: "Warning", reason: "FailedMount", message: text, object: podEventObject(pod) }));
      };
      return volumes.changes$(uid).pipe(
        // The message is left out: composing it for each change of each volume would take quadratic time.
        map(({ unmounted, refused }) => (unmounted === 0 ? "none" : refused > 0 ? "refused" : "waiting")),
        distinctUntilChanged(),
        switchMap((wait) => {
          if (wait === "none") return EMPTY;
          return pollAfter(ports.clock, REPORT_AFTER_MS, report, { immediately: wait === "refused" });
        }),
      );
    }),
  );
}

const usedNames = (pod: Pod): readonly string[] => usedVolumes(pod).map(({ name }) => name);
