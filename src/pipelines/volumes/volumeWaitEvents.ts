/**
 * Writes events about the volumes a pod waits for: at once if waiting cannot help, else after a long wait, and again.
 * Rejects the pod if a volume was not attached because the node has too many of its driver, which keeps its limit current.
 * Bounds: one timer per pod; one VolumeAttachment is read at a time, none for other drivers. Upstream: WaitForAttachAndMount of pkg/kubelet/volumemanager. Differs from upstream: a
 * wait that took too long is an event too, with the text of the error that upstream only logs.
 */
import { distinctUntilChanged, EMPTY, first, map, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { sameItems } from "../../core/sameValue.ts";
import { NO_VOLUMES, type PodVolumes, waitMessage } from "../../core/volume/podVolumes.ts";
import { type AttachingVolume, attachLimitRejection, limitedVolumes } from "../../core/volume/attachLimit.ts";
import { isExhausted } from "../../core/csi/volumeLimit.ts";
import { usedVolumes } from "../../core/volume/volumeLayout.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";

/** Sources of the waits. */
export interface VolumeWaitDeps {
  readonly volumes: ReadonlyKeyedCell<PodUid, PodVolumes>;
  readonly ports: Pick<KubeletPorts, "clock" | "telemetry">;
  /** Undefined on a standalone node. */
  readonly api: Pick<ApiServer, "get"> | undefined;
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
  { volumes, ports, api }: VolumeWaitDeps,
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
      const event = (reason: string, text: string): PodOutput =>
        eventOutput({ type: "Warning", reason, message: text, object: podEventObject(pod) });
      const report = (): Observable<PodOutput> => {
        const text = message();
        if (text === undefined) return EMPTY;
        const now = volumes.get(uid) ?? NO_VOLUMES;
        return exhaustedDriver(limitedVolumes(names, now), api).pipe(
          switchMap((driver): Observable<PodOutput> => {
            const rejection = driver === undefined ? undefined : attachLimitRejection(names, volumes.get(uid) ?? now);
            if (driver === undefined || rejection === undefined) return of(event("FailedMount", text));
            const { reason } = rejection;
            ports.telemetry.metrics.count("kubelet_admission_rejections_total", { reason });
            return of<PodOutput[]>({ kind: "exhausted", driver }, event(reason, rejection.message), {
              kind: "rejected",
              uid,
              ...rejection,
            });
          }),
        );
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

/** Emits the first driver that could not attach one of these volumes because the node has too many; else undefined. */
const exhaustedDriver = (
  attaching: readonly AttachingVolume[],
  api: VolumeWaitDeps["api"],
): Observable<string | undefined> =>
  api === undefined
    ? of(undefined)
    : inSequence(attaching, ({ driver, attachment }) =>
        api.get("volumeattachments", { name: attachment.id }).pipe(
          map((found) => (isExhausted(found) ? driver : undefined)),
          // A VolumeAttachment that cannot be read says nothing.
          orElse(() => of(undefined)),
        ),
      ).pipe(first((driver) => driver !== undefined, undefined));

const usedNames = (pod: Pod): readonly string[] => usedVolumes(pod).map(({ name }) => name);
