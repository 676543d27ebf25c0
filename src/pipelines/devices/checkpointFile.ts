/**
 * Reads and writes the checkpoint of devices on disk (format: core/device/deviceCheckpoint.ts); podDevices.ts decides when.
 * Bounds: MAX_CHECKPOINT_BYTES, one write at a time.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of } from "rxjs";
import { type DeviceAllocations, NO_ALLOCATIONS } from "../../core/device/deviceAllocations.ts";
import { decodeDeviceCheckpoint, MAX_CHECKPOINT_BYTES } from "../../core/device/deviceCheckpoint.ts";
import { toKubeletError } from "../../core/errors.ts";
import { shareByKey } from "../../operators/shareByKey.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

type Ports = Pick<KubeletPorts, "files" | "machine" | "telemetry">;

const CHECKPOINT_MODE = 0o600;

/** Emits the allocations of an earlier kubelet; none if the file cannot be used, which is logged. Never errors. */
export function readCheckpoint({ files, machine, telemetry }: Ports, path: string): Observable<DeviceAllocations> {
  const unusable = (fault: string): DeviceAllocations => {
    telemetry.log.error("The checkpoint of devices cannot be used; pods get other devices", { path, fault });
    return NO_ALLOCATIONS;
  };
  return files.readTail(path, MAX_CHECKPOINT_BYTES).pipe(
    map((text) => {
      const decoded = decodeDeviceCheckpoint(text, machine.bootId);
      return "fault" in decoded ? unusable(decoded.fault) : decoded.allocations;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of(error.code === "NotFound" ? NO_ALLOCATIONS : unusable(error.message));
    }),
  );
}

/**
 * Returns a function that writes the newest content, and completes once all changes made so far are on disk. A write that
 * began before a change is followed by another one.
 */
export function createCheckpointWriter(
  { files }: Pick<Ports, "files">,
  path: string,
  content: () => string,
): () => Observable<never> {
  let changes = 0;
  let written = 0;
  const runs = shareByKey<string, never>({
    start: () =>
      defer(() => {
        const upTo = changes;
        return concat(
          files.replaceFile(path, content(), CHECKPOINT_MODE),
          defer(() => {
            written = upTo;
            return EMPTY;
          }),
        ).pipe(ignoreElements());
      }),
  });
  const until = (change: number): Observable<never> =>
    defer(() => (written >= change ? EMPTY : concat(runs.join(path), until(change))));
  return () =>
    defer(() => {
      changes += 1;
      return until(changes);
    });
}
