import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";
import { startPrivateContainerd } from "../support/privateContainerd.ts";
import type { RuntimeFeatures } from "./runtimeFixture.ts";
import { runtimeServiceConformance } from "./runtimeService.ts";

/** The event stream came with 1.7, RuntimeConfig with 2.0. */
function featuresOf(containerd: string): RuntimeFeatures {
  const output = execFileSync(containerd, ["--version"], { encoding: "utf8" });
  const [, major = 0, minor = 0] = / v?(\d+)\.(\d+)\./.exec(output)?.map(Number) ?? [];
  return {
    containerEvents: major >= 2 || minor >= 7,
    runtimeConfig: major >= 2,
    exec: true,
    logs: true,
    mounts: true,
  };
}

describeOnContainerd("containerd", (installation) => {
  const features = featuresOf(installation.containerd);
  runtimeServiceConformance("containerd", features, async () => {
    const containerd = await startPrivateContainerd(installation);
    const logRoot = join(containerd.folder, "logs");
    await mkdir(logRoot);
    const port = containerd.client();
    return {
      port,
      image: BUSYBOX_IMAGE,
      shell: ["/bin/sh", "-c"],
      logRoot,
      cgroupParent: containerd.cgroupParent,
      features,
      close: () => containerd.stop(),
    };
  });
});
