import { describe } from "vitest";
import { createFiles } from "../../src/sinks/files.ts";
import { createMounts } from "../../src/sinks/mounts/mounts.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, privateMounts } from "../support/privateMounts.ts";
import { mountsConformance } from "./mountsConformance.ts";

describe.skipIf(mustSkip("the mounts of this machine", missingForMounts()))("real mounts", () => {
  mountsConformance("of this machine", async () => {
    const { place, close } = privateMounts();
    return { port: createMounts({ clock: systemClock }), files: createFiles(), place, close: async () => close() };
  });
});
