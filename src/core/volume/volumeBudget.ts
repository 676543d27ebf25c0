/**
 * Bounds the content of volumes that the kubelet fills: the items and sources of a volume may name the same ConfigMap,
 * trust bundle or annotations any number of times, and a pod may have any number of volumes. Differs from upstream,
 * which builds any amount in memory.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Limit for all files of one volume. A ConfigMap or Secret has at most 1 MiB. */
export const MAX_VOLUME_BYTES = 64 * 1024 * 1024;

/** Limit for the files of all volumes of one pod: they lie on a tmpfs, in memory that no container is charged for. */
export const MAX_POD_CONTENT_BYTES = 4 * MAX_VOLUME_BYTES;

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

/** The bytes that the kubelet keeps in the volumes of one pod. Owned by the pod's worker. */
export interface PodContentBudget {
  /**
   * Counts the files of a volume instead of its earlier ones. The error names volume and bound, and the earlier files
   * stay counted.
   */
  hold(volume: string, bytes: number): Result<undefined>;
  /** Forgets a volume whose files are removed. */
  release(volume: string): void;
}

/** Creates the budget of a pod. */
export function podContentBudget(): PodContentBudget {
  const held = new Map<string, number>();
  return {
    hold(volume, bytes) {
      const others = [...held].reduce((sum, [name, size]) => (name === volume ? sum : sum + size), 0);
      if (others + bytes <= MAX_POD_CONTENT_BYTES) {
        held.set(volume, bytes);
        return ok(undefined);
      }
      const bound = `the files of all volumes of a pod must be at most ${MAX_POD_CONTENT_BYTES} bytes in all`;
      const message = `volume "${volume}": ${bound}: it has ${bytes}, the others have ${others}`;
      return err(kubeletError("InvalidArgument", message, { reason: "FailedMount" }));
    },
    release: (volume) => void held.delete(volume),
  };
}
