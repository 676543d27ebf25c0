import { mkdir, symlink } from "node:fs/promises";
import { describe } from "vitest";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, privateMounts } from "../support/privateMounts.ts";
import { mountsConformance } from "./mountsConformance.ts";
import { realFiles } from "../support/realFiles.ts";

describe.skipIf(mustSkip("the mounts of this machine", missingForMounts()))("real mounts", () => {
  mountsConformance("of this machine", async () => {
    const { place, mounts, close } = privateMounts();
    return { port: mounts, files: realFiles(), place, close: async () => close() };
  });
  mountsConformance("of this machine, below a root directory that is a link", async () => {
    const { place, mounts, close } = privateMounts((folder) => `${folder}/link/root`);
    await mkdir(`${place}/real/root`, { recursive: true });
    await symlink("real", `${place}/link`);
    return { port: mounts, files: realFiles(), place: `${place}/link/root`, close: async () => close() };
  });
});
