import { lastValueFrom } from "rxjs";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimHost } from "../../src/sim/host/simHost.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { mountsConformance } from "./mountsConformance.ts";

mountsConformance("simulated", async () => {
  const { files, mounts } = createSimHost({ clock: systemClock, prng: createPrng(1) });
  await lastValueFrom(files.makeDirectory("/place"));
  return { port: mounts, files, place: "/place", close: async () => {} };
});
