import { lastValueFrom } from "rxjs";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimHost } from "../../src/sim/host/simHost.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { filesConformance } from "./filesConformance.ts";

filesConformance("simulated", async () => {
  const { files } = createSimHost({ clock: systemClock, prng: createPrng(1) });
  await lastValueFrom(files.makeDirectory("/place"));
  return { port: files, dir: "/place" };
});
