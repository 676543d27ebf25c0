/** The space that the programs of pods take on the disk over time, for checkers. */
import type { SimObservation } from "../simObservation.ts";

/** Bytes and inodes. */
export interface WrittenAmount {
  readonly bytes: number;
  readonly inodes: number;
}

interface Sample extends WrittenAmount {
  readonly atMs: number;
}

interface Written {
  readonly files: Map<string, WrittenAmount>;
  readonly samples: readonly Sample[];
}

const NOTHING: WrittenAmount = { bytes: 0, inodes: 0 };

/** Creates the amounts of a node, which outlive its kubelets. Bound: the samples of `windowMs` per pod. */
export function createWrittenFiles(windowMs: number) {
  const pods = new Map<string, Written>();
  /** Returns the samples since `windowMs` ago, after the one that was in force then. */
  const recent = (samples: readonly Sample[], atMs: number): readonly Sample[] => {
    const inForce = samples.findLastIndex((sample) => sample.atMs <= atMs - windowMs);
    return inForce < 0 ? [{ ...NOTHING, atMs: 0 }, ...samples] : samples.slice(inForce);
  };
  return {
    written({ atMs, podUid, path, ...amount }: SimObservation & { readonly kind: "written" }): void {
      const { files, samples } = pods.get(podUid) ?? { files: new Map<string, WrittenAmount>(), samples: [] };
      files.set(path, amount);
      const sum = (what: keyof WrittenAmount) => [...files.values()].reduce((total, each) => total + each[what], 0);
      const sample = { atMs, bytes: sum("bytes"), inodes: sum("inodes") };
      pods.set(podUid, { files, samples: [...recent(samples, atMs), sample] });
    },
    /** Forgets a pod whose directory was removed. */
    removed: (podUid: string) => void pods.delete(podUid),
    /** Returns the least and the most that a pod had written at any time of the last `windowMs`. */
    range(podUid: string, what: keyof WrittenAmount, atMs: number): readonly [least: number, most: number] {
      const amounts = recent(pods.get(podUid)?.samples ?? [], atMs).map((sample) => sample[what]);
      return [Math.min(...amounts), Math.max(...amounts)];
    },
  };
}
