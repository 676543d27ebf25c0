import { map } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Counts no files in volumes, so that all pods use as little of the disk. */
export const unseenVolumes: Mutant = {
  bug: "pods that use little of the disk are evicted before those that fill it",
  caughtBy: "evictionOrder",
  seed: 4,
  pods: 24,
  faults: { ...noFaults(), diskFills: 60, volumeGrows: 1 },
  createKubelet: withPorts(({ volumeFiles }) => ({
    volumeFiles: {
      ...volumeFiles,
      usage: (path) => volumeFiles.usage(path).pipe(map(() => ({ bytes: 0n, inodes: 1n }))),
    },
  })),
};
