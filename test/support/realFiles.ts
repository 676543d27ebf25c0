/** The ports for files on the disk of this machine. */
import type { Files } from "../../src/ports/files.ts";
import type { VolumeFiles } from "../../src/ports/volumeFiles.ts";
import { createFiles } from "../../src/sinks/files.ts";
import { createTrees } from "../../src/sinks/trees/trees.ts";
import { createVolumeFiles } from "../../src/sinks/volumeFiles/volumeFiles.ts";
import { systemClock } from "../../src/sources/systemClock.ts";

/** Files, with threads of their own for large trees. */
export const realFiles = (): Files => createFiles(createTrees({ clock: systemClock }));

/** Files of volumes, likewise. */
export const realVolumeFiles = (): VolumeFiles =>
  createVolumeFiles({ clock: systemClock, trees: createTrees({ clock: systemClock }) });
