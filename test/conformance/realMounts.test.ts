import { describe, it } from "vitest";
import { createFiles } from "../../src/sinks/files.ts";
import { createMounts } from "../../src/sinks/mounts/mounts.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { privateMounts, whyNoMounts } from "../support/privateMounts.ts";
import { mountsConformance } from "./mountsConformance.ts";

const why = whyNoMounts();

if (why === undefined) {
  mountsConformance("of this machine", async () => {
    const { place, close } = privateMounts();
    return { port: createMounts({ clock: systemClock }), files: createFiles(), place, close: async () => close() };
  });
} else {
  describe("mounts: of this machine", () => {
    it.skip(`NOT RUN: ${why}`);
  });
}
