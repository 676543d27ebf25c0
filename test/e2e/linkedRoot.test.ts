/** Root directories that are reached through symbolic links, as on nodes with a disk of their own for the kubelet. */
import { mkdir, readdir, readFile, realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { mountsBelow } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode, NO_TRACES, waitForTraces } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "login" }, stringData: { password: "open" } };

const PLACES: readonly (readonly [string, (made: string) => Promise<string>])[] = [
  [
    "is a link",
    async (made) => {
      await mkdir(join(made, "disk"));
      await symlink("disk", join(made, "kubelet"));
      return made;
    },
  ],
  [
    "is below a link",
    async (made) => {
      await mkdir(join(made, "disk"));
      await symlink(join(made, "disk"), join(made, "link"));
      return join(made, "link");
    },
  ],
];

for (const [how, folder] of PLACES) {
  describeOnContainerd(`a node whose root directory ${how}`, (installation) => {
    const node = containerdNode(installation, { folder });

    it("mounts each volume once, keeps it over a restart, and removes it with its pod", async () => {
      const { daemon } = node;
      await daemon.put("login.json", secret);
      await daemon.put(
        "web.json",
        manifest("web", {
          volumes: [
            { name: "fast", emptyDir: { medium: "Memory" } },
            { name: "login", secret: { secretName: "login" } },
            { name: "scratch", emptyDir: {} },
          ],
          containers: [
            server(
              "main",
              "echo kept >/fast/file; cat /login/password; echo; echo end >/dev/termination-log; echo end",
              {
                volumeMounts: [
                  { name: "fast", mountPath: "/fast" },
                  { name: "login", mountPath: "/login" },
                  { name: "scratch", mountPath: "/part", subPathExpr: "made" },
                ],
              },
            ),
          ],
        }),
      );
      const pod = await daemon.until("web", ({ status }) => status?.phase === "Running", "Running");
      expect(await node.untilOutput(pod, "main", "end")).toEqual(["open", "end"]);
      const root = await realpath(join(node.folder, "kubelet"));
      const own = (path: string): string => join(root, "pods", pod.metadata.uid, path);
      const expected = [
        own("volume-subpaths/scratch/main/2"),
        own("volumes/kubernetes.io~empty-dir/fast"),
        own("volumes/kubernetes.io~secret/login"),
      ];
      const mounted = () => [...mountsBelow(join(root, "pods"))].sort();
      expect(mounted()).toEqual(expected);

      await daemon.kill();
      await daemon.restart();
      await daemon.until("web", ({ status }) => status?.phase === "Running", "Running");
      // A second pod is set up only once the first one was looked at.
      await daemon.put("next.json", manifest("next", { containers: [server("main", "echo end")] }));
      await daemon.until("next", ({ status }) => status?.phase === "Running", "Running");
      expect(mounted()).toEqual(expected);
      expect(await readFile(own("volumes/kubernetes.io~empty-dir/fast/file"), "utf8")).toBe("kept\n");

      await daemon.drop("web.json");
      await daemon.untilGone("web");
      await waitFor("no mount to be left", () => mounted().length === 0);
      await daemon.drop("next.json");
      await waitForTraces(node.traces, NO_TRACES);
      expect(await readdir(join(root, "pods"))).toEqual([]);
    });

    it("tells what a container left in its termination message file", async () => {
      const { daemon } = node;
      await daemon.put(
        "job.json",
        manifest("job", {
          restartPolicy: "Never",
          containers: [server("main", "printf 'the reason' >/dev/termination-log; exit 3")],
        }),
      );
      const pod = await daemon.until("job", ({ status }) => status?.phase === "Failed", "Failed");
      expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe("the reason");
    });
  });
}
