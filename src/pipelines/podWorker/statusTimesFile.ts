/**
 * Times of a static pod's status on disk, so that they stay over a restart of the kubelet. A small file in the pod's
 * directory, removed with it. Bound: one write at a time, of the newest times; a failed write is repeated by the next
 * change.
 */
import { catchError, defer, EMPTY, filter, ignoreElements, map, type Observable, switchMap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { statusTimesPath } from "../../core/paths.ts";
import { decodeStatusTimes, encodeStatusTimes, MAX_TIMES_BYTES, type StatusTimes } from "../../core/pod/statusTimes.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReportedMemory } from "../podMemories.ts";

/** Upper bound on the delay of the pod by a disk without an answer. */
const READ_DEADLINE_MS = 5_000;
const MODE = 0o600;

/** The pod of a file and its dependencies. */
export interface StatusTimesFile {
  readonly uid: PodUid;
  readonly reported: ReportedMemory;
  readonly config: Pick<KubeletConfig, "directories">;
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
}

/** Loads the times of an earlier kubelet into the memory, then completes. An unusable file counts as missing. */
export function restoreStatusTimes({ uid, reported, config, ports }: StatusTimesFile): Observable<never> {
  const { files, clock, telemetry } = ports;
  const path = statusTimesPath(config.directories, uid);
  return defer(() => files.readTail(path, MAX_TIMES_BYTES)).pipe(
    deadline(READ_DEADLINE_MS, clock),
    switchMap((text) => {
      reported.earlier = decodeStatusTimes(text, clock.wallTime());
      if (reported.earlier === undefined) telemetry.log.warn("Times of a status cannot be used", { podUid: uid, path });
      return EMPTY;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.code !== "NotFound") telemetry.log.warn("Cannot read times of a status", { podUid: uid, error });
      return EMPTY;
    }),
  );
}

/** Writes the times after each change, while subscribed. */
export function keepStatusTimes({ uid, reported, config, ports }: StatusTimesFile): Observable<never> {
  const { files, telemetry } = ports;
  const path = statusTimesPath(config.directories, uid);
  let written: StatusTimes | undefined;
  const write = (times: StatusTimes): Observable<never> =>
    defer(() => {
      if (sameValue(written ?? reported.earlier, times)) return EMPTY;
      // Times are no decision: after a crash of the machine they may be lost.
      return files.replaceFile(path, encodeStatusTimes(times), MODE, "kubelet").pipe(
        map(() => (written = times)),
        ignoreElements(),
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          // The directory of the pod is made by its first sync, and another change follows that.
          if (error.code !== "NotFound") telemetry.log.warn("Cannot write times of a status", { podUid: uid, error });
          return EMPTY;
        }),
      );
    });
  return reported.times.changes$.pipe(
    filter((times) => times !== undefined),
    conflateMap(write),
  );
}
