/**
 * The daemon killed while mount(8) or umount(8) works for it, at each of their runs, before and after the effect. The tool
 * lives on, as processes do; the next daemon may neither mount twice nor leave or lose anything.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { mountsBelow } from "../support/kernelState.ts";
import { type MountGates, mountGates } from "../support/mountGates.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode, NO_TRACES, waitForTraces } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "login" }, stringData: { password: "open" } };
const WORDS = ["kept", "open", "precious"];

/** Three volumes, so three runs of either; the simulated mounts have a death at each step. */
const KILLS = [
  { nth: 1, when: "after" },
  { nth: 2, when: "before" },
  { nth: 3, when: "after" },
] as const;

describeOnContainerd("a daemon killed while its tools for mounts work", (installation) => {
  let folder = "";
  let gates: MountGates;
  const node = containerdNode(installation, {
    env: async () => {
      folder = await mkdtemp(join(tmpdir(), "rxlet-gates-"));
      gates = await mountGates(folder);
      return { PATH: `${gates.programs}:${process.env["PATH"] ?? ""}` };
    },
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const data = (): string => join(folder, "data", "part");
  const webPod = () =>
    manifest("web", {
      volumes: [
        { name: "fast", emptyDir: { medium: "Memory" } },
        { name: "login", secret: { secretName: "login" } },
        { name: "host", hostPath: { path: join(folder, "data") } },
      ],
      containers: [
        server("main", "echo kept >>/fast/file; cat /fast/file /login/password; echo; cat /part/file", {
          volumeMounts: [
            { name: "fast", mountPath: "/fast" },
            { name: "login", mountPath: "/login" },
            { name: "host", mountPath: "/part", subPath: "part", readOnly: true },
          ],
        }),
      ],
    });
  /** Kills the daemon while a tool is at its gate, and starts the next one. */
  const killAtGate = async (): Promise<number> => {
    const pid = await gates.reached();
    await node.daemon.kill();
    await node.daemon.restart();
    return pid;
  };

  it.each(KILLS)("$when run $nth of each leaves no mount too many, and takes no data", async ({ nth, when }) => {
    const { daemon } = node;
    await mkdir(data(), { recursive: true });
    await writeFile(join(data(), "file"), "precious\n");
    await daemon.put("login.json", secret);
    await gates.arm("mount", nth, when);
    await daemon.put("web.json", webPod());
    const mounting = await killAtGate();
    const pod = await daemon.until("web", ({ status }) => status?.phase === "Running", "Running");
    await gates.open(mounting);
    expect(await node.untilOutput(pod, "main", "precious")).toEqual(WORDS);
    const pods = join(node.folder, "kubelet", "pods");
    const own = (path: string): string => join(pods, pod.metadata.uid, path);
    expect([...mountsBelow(pods)].sort()).toEqual([
      own("volume-subpaths/host/main/2"),
      own("volumes/kubernetes.io~empty-dir/fast"),
      own("volumes/kubernetes.io~secret/login"),
    ]);
    expect(await readFile(own("volumes/kubernetes.io~empty-dir/fast/file"), "utf8")).toBe("kept\n");
    await gates.arm("umount", nth, when);
    await daemon.drop("web.json");
    const unmounting = await killAtGate();
    await waitForTraces(node.traces, NO_TRACES);
    await gates.open(unmounting);
    await waitFor("nothing to be mounted", () => mountsBelow(pods).length === 0);
    expect(await readFile(join(data(), "file"), "utf8")).toBe("precious\n");
  });
});
