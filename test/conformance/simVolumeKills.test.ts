import { createSimHost } from "../../src/sim/host/simHost.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { VOLUME_KINDS, volumeKills } from "./volumeKills.ts";

volumeKills("simulated", Object.keys(VOLUME_KINDS), () => {
  const { files, mounts, volumeFiles } = createSimHost({ clock: systemClock, prng: createPrng(1) });
  return { files, mounts, volumeFiles, place: "/place", close: () => {} };
});
