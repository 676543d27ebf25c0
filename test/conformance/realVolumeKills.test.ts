import { existsSync } from "node:fs";
import { describe, it } from "vitest";
import { createFiles } from "../../src/sinks/files.ts";
import { createMounts } from "../../src/sinks/mounts/mounts.ts";
import { createVolumeFiles } from "../../src/sinks/volumeFiles/volumeFiles.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { privateMounts, whyNoMounts } from "../support/privateMounts.ts";
import { VOLUME_KINDS, volumeKills } from "./volumeKills.ts";

const why = whyNoMounts();
const hasHugePages = existsSync("/sys/kernel/mm/hugepages/hugepages-2048kB");
/** No test has a server of it: the simulated mounts stand in. */
const OUT_OF_REACH = "nfs";
const missing = new Set(hasHugePages ? [] : ["emptyDir of huge pages"]);

if (why === undefined) {
  const kinds = Object.keys(VOLUME_KINDS).filter((kind) => kind !== OUT_OF_REACH && !missing.has(kind));
  volumeKills("on this machine", kinds, () => ({
    files: createFiles(),
    mounts: createMounts({ clock: systemClock }),
    volumeFiles: createVolumeFiles({ clock: systemClock }),
    ...privateMounts(),
  }));
  for (const kind of missing) it.skip(`NOT RUN: ${kind}: this machine has none`);
} else {
  describe("a kubelet killed at any step: on this machine", () => {
    it.skip(`NOT RUN: ${why}`);
  });
}
