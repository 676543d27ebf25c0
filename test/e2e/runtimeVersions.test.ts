/**
 * Features of newer runtimes: user ids of the pod's own, images as volumes, strict groups and read-only mounts with all
 * that is below; and how older ones' nodes refuse it. RXLET_CONTAINERD names a containerd of 2.1 or later, with a runc of
 * 1.2 or later beside it.
 */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd, isContainerdAtLeast } from "../support/containerdInstallation.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";
import { waitFor } from "../support/waitFor.ts";
import { type ContainerdNode, containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const mainOf = ({ status }: Pod) => status?.containerStatuses?.[0];
const isReady = (pod: Pod): boolean => mainOf(pod)?.ready === true;
const OWN_USERS = { hostUsers: false };
const STRICT_GROUPS = { supplementalGroupsPolicy: "Strict" as const };

describeOnContainerd("what depends on the version of the runtime", (installation) => {
  const node = containerdNode(installation);
  if (isContainerdAtLeast(installation, 2, 1)) newerRuntime(node);
  else olderRuntime(node);
});

function newerRuntime(node: ContainerdNode): void {
  it("gives a pod user ids of its own, and volumes it can write to as its root", async () => {
    const tell = "cat /proc/self/uid_map; id -u; echo in >/data/file; stat -c %u /data/file; echo end";
    const spec = {
      ...OWN_USERS,
      volumes: [{ name: "data", emptyDir: {} }],
      containers: [server("main", tell, { volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    };
    await node.daemon.put("mapped.json", manifest("mapped", spec));
    const pod = await node.daemon.until("mapped", isReady, "ready");
    const [map = "", ...said] = await node.untilOutput(pod, "main", "end");
    const [inside, outside, length] = map.trim().split(/\s+/).map(Number);
    expect([inside, (outside ?? 0) % 65_536, (outside ?? 0) > 0, length]).toEqual([0, 0, true, 65_536]);
    expect(said).toEqual(["0", "0", "end"]);
  });

  it("shows a container what is in an image", async () => {
    const spec = {
      volumes: [{ name: "files", image: { reference: BUSYBOX_IMAGE, pullPolicy: "IfNotPresent" } }],
      containers: [
        server("main", "cat /files/etc/group | head -1; touch /files/x 2>/dev/null || echo read-only; echo end", {
          volumeMounts: [{ name: "files", mountPath: "/files" }],
        }),
      ],
    };
    await node.daemon.put("imaged.json", manifest("imaged", spec));
    const pod = await node.daemon.until("imaged", isReady, "ready");
    expect(await node.untilOutput(pod, "main", "end")).toEqual(["root:x:0:", "read-only", "end"]);
  });

  it("joins no groups but those its pod names, and cannot write below what is mounted read-only", async () => {
    const spec = {
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 2000,
        supplementalGroups: [3000],
        ...STRICT_GROUPS,
      },
      volumes: [{ name: "data", emptyDir: {} }],
      containers: [
        server("main", "id -G; echo end", {
          volumeMounts: [{ name: "data", mountPath: "/data", readOnly: true, recursiveReadOnly: "Enabled" as const }],
        }),
      ],
    };
    await node.daemon.put("strict.json", manifest("strict", spec));
    const pod = await node.daemon.until("strict", isReady, "ready");
    expect(await node.untilOutput(pod, "main", "end")).toEqual(["2000 3000", "end"]);
    const reported = await waitFor("the status to tell of the user", async () => {
      const status = await node.daemon.pod("strict");
      return status !== undefined && mainOf(status)?.user !== undefined ? mainOf(status) : undefined;
    });
    expect([reported?.user?.linux, reported?.volumeMounts?.[0]?.recursiveReadOnly]).toEqual([
      { uid: 1000, gid: 2000, supplementalGroups: [2000, 3000] },
      "Enabled",
    ]);
  });
}

function olderRuntime(node: ContainerdNode): void {
  it("refuses a pod that wants no groups but those it names", async () => {
    await node.daemon.put(
      "strict.json",
      manifest("strict", { securityContext: STRICT_GROUPS, containers: [server()] }),
    );
    const { status } = await node.daemon.until("strict", (pod) => pod.status?.phase === "Failed", "Failed");
    const reason = "SupplementalGroupsPolicyNotSupported";
    const message = "SupplementalGroupsPolicy=Strict is not supported in this node";
    expect(status).toMatchObject({ phase: "Failed", reason, message: `Pod was rejected: ${message}` });
    expect(await node.daemon.events("strict")).toMatchObject([{ type: "Warning", reason, message }]);
    expect(await node.sandboxes()).toEqual([]);
  });

  it("says why a pod cannot have user ids of its own, and makes nothing", async () => {
    await node.daemon.put("mapped.json", manifest("mapped", { ...OWN_USERS, containers: [server()] }));
    const why = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
    await waitFor("the event", async () =>
      (await node.daemon.events("mapped")).some(({ message }) =>
        message?.startsWith(`Failed to create pod sandbox: ${why}`),
      ),
    );
    expect((await node.daemon.pod("mapped"))?.status?.phase).toBe("Pending");
    expect(await node.sandboxes()).toEqual([]);
  });
}
