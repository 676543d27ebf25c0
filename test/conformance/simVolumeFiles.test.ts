import { lastValueFrom } from "rxjs";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimHost } from "../../src/sim/host/simHost.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { volumeFilesConformance } from "./volumeFilesConformance.ts";

volumeFilesConformance("simulated", async () => {
  const { files, volumeFiles } = createSimHost({ clock: systemClock, prng: createPrng(1) });
  await lastValueFrom(files.makeDirectory("/volume"));
  return { port: volumeFiles, files, dir: "/volume" };
});
