/**
 * Bounds the content of one volume that the kubelet fills: the items and sources of a volume may name the same
 * ConfigMap, trust bundle or annotations any number of times. Differs from upstream, which builds any amount in memory.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Limit for all files of one volume. A ConfigMap or Secret has at most 1 MiB. */
export const MAX_VOLUME_BYTES = 64 * 1024 * 1024;

/** The remaining budget of one volume. */
export interface VolumeBudget {
  /** Counts the bytes of a file. The error names volume, file and bound; once exceeded, every call fails. */
  take(file: string, bytes: number): Result<undefined>;
  /** Returns the error once the budget is exceeded, to end the work on further files. */
  exceeded(): Result<never> | undefined;
}

/** Creates the budget of a volume. */
export function volumeBudget(volume: string): VolumeBudget {
  let left = MAX_VOLUME_BYTES;
  let failure: Result<never> | undefined;
  return {
    take(file, bytes) {
      left -= bytes;
      if (left >= 0) return ok(undefined);
      const message = `volume "${volume}": ${file}: the files of a volume must be at most ${MAX_VOLUME_BYTES} bytes in all`;
      failure ??= err(kubeletError("InvalidArgument", message, { reason: "FailedMount" }));
      return failure;
    },
    exceeded: () => failure,
  };
}
