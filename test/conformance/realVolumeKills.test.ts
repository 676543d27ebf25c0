import { existsSync } from "node:fs";
import { describe } from "vitest";
import { mustSkip } from "../support/mustSkip.ts";
import { loopDevice, loopedPaths, missingForLoopDevices } from "../support/loopDevice.ts";
import { missingForMounts, privateMounts } from "../support/privateMounts.ts";
import { VOLUME_KINDS, volumeKills } from "./volumeKills.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";

const missingForHugePages = existsSync("/sys/kernel/mm/hugepages/hugepages-2048kB") ? [] : ["huge pages of 2 MiB"];
/** No test has a server of it: the simulated mounts stand in. */
const OUT_OF_REACH = "nfs";
const HUGE_PAGES = "emptyDir of huge pages";
/** Their writer is the one of secrets; the simulated mounts have them all. */
const LIKE_SECRETS = ["configMap", "downwardAPI", "projected"];
const DEVICES = ["local, a block device", "local, as a device"];

describe.skipIf(mustSkip("kills amid effects on real mounts", missingForMounts()))("real mounts", () => {
  const leftOut = [
    OUT_OF_REACH,
    ...LIKE_SECRETS,
    ...DEVICES,
    ...(mustSkip(HUGE_PAGES, missingForHugePages) ? [HUGE_PAGES] : []),
  ];
  const kinds = Object.keys(VOLUME_KINDS).filter((kind) => !leftOut.includes(kind));
  const open = () => ({ files: realFiles(), volumeFiles: realVolumeFiles(), ...privateMounts() });
  volumeKills("on this machine", kinds, open, "in turn");
  describe.skipIf(mustSkip("block devices", missingForLoopDevices()))("with a disk", () => {
    const openWithDevice = () => {
      const { device, detach } = loopDevice();
      const on = open();
      return {
        ...on,
        device,
        loops: loopedPaths,
        close() {
          on.close();
          detach();
        },
      };
    };
    volumeKills("on a loop device", DEVICES, openWithDevice, "in turn");
  });
});
