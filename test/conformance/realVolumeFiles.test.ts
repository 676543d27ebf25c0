import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { volumeFilesConformance } from "./volumeFilesConformance.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";

const dir = temporaryDirectory();

volumeFilesConformance("of this machine", async () => ({
  port: realVolumeFiles(),
  files: realFiles(),
  dir: dir(),
}));
