/** Volumes of pods of a cluster, on containerd and the mounts of this machine: what containers find in them, and when. */
import { execFile, execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { podVolumeDir } from "../../src/core/paths.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server as serving } from "./manifests.ts";

type Volumes = NonNullable<Pod["spec"]["volumes"]>;

const ref = (name: string) => ({ namespace: "default", name });
const at = (name: string, more: object = {}) => ({ name, mountPath: `/${name}`, ...more });

describeOnContainerd("volumes on containerd", (installation) => {
  const cluster = clusterNode(installation);
  const mountsBelow = async (folder: string): Promise<number> =>
    (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(` ${folder}`)).length;

  /** Returns the output of `rxlet volumes`. */
  const shown = async (...args: readonly string[]): Promise<string> => {
    const { readOnlyUrl } = cluster.node.daemon;
    return (await promisify(execFile)(process.execPath, [BUILT_MAIN, "volumes", ...args, "--server", readOnlyUrl]))
      .stdout;
  };

  it("give every pod its token, certificate and namespace", async () => {
    cluster.server.sim.put("serviceaccounts", { metadata: ref("default") });
    cluster.server.sim.put("configmaps", { metadata: ref("kube-root-ca.crt"), data: { "ca.crt": "PEM" } });
    const sources = [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ];
    const volumes: Volumes = [{ name: "access", projected: { defaultMode: 0o644, sources } }];
    const tell =
      "cd /access; cat ca.crt; echo; cat namespace; echo; wc -w <token; touch x 2>/dev/null || echo read-only; echo end";
    cluster.bind("account", {
      volumes,
      serviceAccountName: "default",
      containers: [serving("main", tell, { volumeMounts: [at("access")] })],
    });
    const pod = await cluster.untilTold("account", isReady, "Ready");
    expect(await cluster.node.untilOutput(pod, "main", "end")).toEqual(["PEM", "default", "1", "read-only", "end"]);
  });

  it("are what their kind says, down to modes, owners, sizes and parts", async () => {
    cluster.server.sim.put("configmaps", { metadata: ref("settings"), data: { color: "blue" } });
    cluster.server.sim.put("secrets", { metadata: ref("login"), data: { password: "b3Blbg==" } });
    const volumes: Volumes = [
      { name: "settings", configMap: { name: "settings", defaultMode: 0o640 } },
      { name: "login", secret: { secretName: "login", defaultMode: 0o400 } },
      { name: "about", downwardAPI: { items: [{ path: "app", fieldRef: { fieldPath: "metadata.labels['app']" } }] } },
      { name: "fast", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { name: "scratch", emptyDir: {} },
    ];
    const tell = [
      "cat /settings/color /login/password /about/app; echo",
      "stat -Lc '%a %g' /settings/color /login/password; stat -c %g /scratch",
      "df -k /fast | tail -1 | awk '{print $2}'; grep -c ' /login tmpfs ' /proc/mounts",
      "touch /login/inner/x && echo nested; cat /color; echo; echo in >/part/file; cat /scratch/logs/main/file; echo end",
    ].join("; ");
    const parts = [
      { name: "settings", mountPath: "/color", subPath: "color" },
      { name: "scratch", mountPath: "/part", subPathExpr: "logs/$(NAME)" },
      { name: "scratch", mountPath: "/login/inner" },
    ];
    cluster.bind(
      "kinds",
      {
        volumes,
        securityContext: { fsGroup: 4321 },
        containers: [
          serving("main", tell, {
            env: [{ name: "NAME", value: "main" }],
            volumeMounts: [...volumes.map(({ name }) => at(name)), ...parts],
          }),
        ],
      },
      { labels: { app: "shop" } },
    );
    const pod = await cluster.untilTold("kinds", isReady, "Ready");
    expect(await cluster.node.untilOutput(pod, "main", "end")).toEqual([
      "blueopenshop",
      "640 4321",
      "440 4321",
      "4321",
      "1024",
      "1",
      "nested",
      "blue",
      "in",
      "end",
    ]);
  });

  it("show a container what is mounted in them later, if it asks for that", async () => {
    const propagated = { ...at("shared"), mountPropagation: "HostToContainer" };
    const tell = "until [ -e /shared/later/file ]; do sleep 0.05; done; echo seen";
    cluster.bind("propagated", {
      volumes: [{ name: "shared", emptyDir: {} }],
      containers: [serving("main", tell, { volumeMounts: [propagated] })],
    });
    const pod = await cluster.untilTold("propagated", isReady, "Ready");
    const roots = { rootDir: join(cluster.node.folder, "kubelet") };
    const later = join(podVolumeDir(roots, pod.metadata.uid, "kubernetes.io~empty-dir", "shared"), "later");
    await mkdir(later);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", later]);
    try {
      await writeFile(join(later, "file"), "");
      expect(await cluster.node.untilOutput(pod, "main", "seen")).toEqual(["seen"]);
    } finally {
      execFileSync("umount", [later]);
    }
  });

  it("wait for their objects, follow them while containers run, and are gone with the pod", async () => {
    const volumes: Volumes = [
      { name: "settings", configMap: { name: "late" } },
      { name: "fast", emptyDir: { medium: "Memory" } },
    ];
    const tell = "cat /settings/mode; echo; until grep -q new /settings/mode; do sleep 0.05; done; echo seen";
    const container = serving("main", tell, { volumeMounts: [at("settings"), at("fast")] });
    cluster.bind("following", { volumes, containers: [container] });
    const reported = await cluster.until("FailedMount", () =>
      cluster.server.sim
        .objects("events")
        .find(({ reason, involvedObject }) => reason === "FailedMount" && involvedObject.name === "following"),
    );
    expect(reported.message).toBe('MountVolume.SetUp failed for volume "settings" : configmap "late" not found');
    const waiting = await shown("following");
    expect(waiting).toMatch(
      /\n {2}mounted {2}fast {6}kubernetes.io\/empty-dir {2}tmpfs at \S+\n {2}pending {2}settings {2}kubernetes.io\/configmap {2}/,
    );
    expect(waiting).toMatch(
      /\n {6}configmap "late" not found\n {6}failed (once|\d+ times); next try at \S+Z, in \S+\n$/,
    );
    cluster.server.sim.put("configmaps", { metadata: ref("late"), data: { mode: "old" } });
    const pod = await cluster.untilTold("following", isReady, "Ready");
    await cluster.node.untilOutput(pod, "main", "old");
    cluster.server.sim.put("configmaps", { metadata: ref("late"), data: { mode: "new" } });
    expect(await cluster.node.untilOutput(pod, "main", "seen")).toEqual(["old", "seen"]);
    const pods = `${cluster.node.folder}/kubelet/pods`;
    expect(await mountsBelow(pods)).toBe(1);
    expect(await shown()).toMatch(/^2 mounted, 0 pending, 0 removing, 0 orphaned, at \S+\n\ndefault\/following {2}/);
    cluster.server.sim.delete("pods", ref("following"), { gracePeriodSeconds: 1 });
    await cluster.untilGone("following");
    expect(await mountsBelow(pods)).toBe(0);
    expect(await shown()).toMatch(/^0 mounted, 0 pending, 0 removing, 0 orphaned, at \S+\n$/);
  });
});
