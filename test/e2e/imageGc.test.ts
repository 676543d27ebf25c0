/** Image garbage collection on a disk that counts as full, since the thresholds are one and zero percent. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const FULL = { imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0, imageMinimumGCAge: "0s" };
const REMOVED = 'kubelet_image_garbage_collected_total{reason="space"}';

describeOnContainerd("image garbage collection on containerd", (installation) => {
  const node = containerdNode(installation);

  it("removes an image that no container uses, keeps the one of a running pod, and reports the full disk", async () => {
    const { daemon } = node;
    await daemon.put("user.json", manifest("user", { containers: [server()] }));
    await daemon.until("user", ({ status }) => status?.phase === "Running", "Running");
    await daemon.kill("SIGTERM");
    const file = join(daemon.folder, "config.json");
    const config = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...config, ...FULL }));
    await daemon.restart();
    await waitFor("an image to be removed", async () => (await daemon.metric(REMOVED)) === 1);
    const isReported = async (): Promise<boolean> =>
      (await daemon.logEntries()).some(({ reason }) => reason === "FreeDiskSpaceFailed");
    await waitFor("the full disk to be reported", isReported);
    const { images } = await firstValueFrom(node.client.images.listImages({ filter: undefined }));
    expect(images.flatMap(({ repoTags }) => repoTags)).toEqual([BUSYBOX_IMAGE]);
    expect((await daemon.pod("user"))?.status?.phase).toBe("Running");
  });
});
