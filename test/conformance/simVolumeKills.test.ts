import { createSimHost } from "../../src/sim/host/simHost.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { VOLUME_KINDS, volumeKills } from "./volumeKills.ts";

/** Simulated machines have no block devices. */
const KINDS = Object.keys(VOLUME_KINDS).filter((kind) => VOLUME_KINDS[kind]?.isDevice !== true);

volumeKills("simulated", KINDS, () => {
  const { files, mounts, volumeFiles } = createSimHost({ clock: systemClock, prng: createPrng(1) });
  return { files, mounts, volumeFiles, place: "/place", close: () => {} };
});
