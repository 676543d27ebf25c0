/** `rxlet dev` on a containerd of the machine: which ones it uses, and which it refuses. */
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { PodSandboxConfig } from "../../src/gen/cri.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { type PrivateContainerd, startPrivateContainerd } from "../support/privateContainerd.ts";
import { createDevUser, type DevUser } from "./devNode.ts";

describeOnContainerd("rxlet dev --runtime=containerd", (installation) => {
  let containerd: PrivateContainerd;
  let user: DevUser;
  beforeAll(async () => {
    containerd = await startPrivateContainerd(installation);
  });
  afterAll(async () => {
    await containerd.stop();
  });
  beforeEach(async () => {
    user = await createDevUser();
  });
  afterEach(async () => {
    await user.close();
  });
  const flags = (): readonly string[] => ["--runtime=containerd", `--runtime-endpoint=${containerd.endpoint}`];

  it("runs a node on it, and leaves nothing", async () => {
    const node = await user.start("pods", {}, flags());
    expect(await node.pods()).toEqual([]);
    expect(await node.stop()).toBe(0);
    expect(await user.leftovers()).toEqual([]);
  });

  it("refuses one with pods of another kubelet, which stay", async () => {
    const client = containerd.client();
    const config = PodSandboxConfig.fromPartial({
      metadata: { name: "etcd", namespace: "kube-system", uid: "u-1", attempt: 0 },
      logDirectory: join(containerd.folder, "logs"),
      linux: { cgroupParent: containerd.cgroupParent },
    });
    try {
      const { podSandboxId } = await firstValueFrom(client.runtime.runPodSandbox({ config, runtimeHandler: "" }));
      const refused = await user.run(["dev", user.folder, ...flags()]);
      expect([refused.code, refused.err]).toEqual([
        1,
        "rxlet: --runtime=containerd: containerd has pods of another kubelet (kube-system/etcd), which rxlet dev would end\n",
      ]);
      const { status } = await firstValueFrom(client.runtime.podSandboxStatus({ podSandboxId, verbose: false }));
      expect(status?.state).toBe(0);
      expect(await user.leftovers()).toEqual([]);
    } finally {
      client.close();
    }
  });
});
