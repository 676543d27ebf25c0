import { createFiles } from "../../src/sinks/files.ts";
import { createVolumeFiles } from "../../src/sinks/volumeFiles/volumeFiles.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { volumeFilesConformance } from "./volumeFilesConformance.ts";

const dir = temporaryDirectory();

volumeFilesConformance("of this machine", async () => ({
  port: createVolumeFiles({ clock: systemClock }),
  files: createFiles(),
  dir: dir(),
}));
