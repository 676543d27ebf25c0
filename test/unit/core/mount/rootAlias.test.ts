import { describe, expect, it } from "vitest";
import { type MountEntry, parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { rootAlias } from "../../../../src/core/mount/rootAlias.ts";

const entriesAt = (...mountPoints: readonly string[]): readonly MountEntry[] =>
  parseMountInfo(mountPoints.map((point, id) => `${id} 1 8:1 / ${point} rw - ext4 /dev/sda1 rw`).join("\n"));
const pointsOf = (entries: readonly MountEntry[]) => entries.map(({ mountPoint }) => mountPoint);

describe("a root directory that is reached through a link", () => {
  const alias = rootAlias("/var/lib/kubelet", "/data/kubelet");

  it.each([
    ["/var/lib/kubelet", "/data/kubelet"],
    ["/var/lib/kubelet/pods/u/volumes", "/data/kubelet/pods/u/volumes"],
    ["/var/lib/kubelet-other", "/var/lib/kubelet-other"],
    ["/data/kubelet/pods", "/data/kubelet/pods"],
    ["/mnt/disk", "/mnt/disk"],
  ])("is resolved for the kernel: %s", (path, expected) => {
    expect(alias.toReal(path)).toBe(expected);
  });

  it("shows its mounts under the configured path", () => {
    const table = entriesAt(
      "/",
      "/data",
      "/data/kubelet",
      "/data/kubelet/pods/u",
      "/data/kubelets",
      "/var/lib/kubelet",
    );
    expect(pointsOf(alias.toConfigured(table))).toEqual([
      "/",
      "/data",
      "/var/lib/kubelet",
      "/var/lib/kubelet/pods/u",
      "/data/kubelets",
      "/var/lib/kubelet",
    ]);
  });

  it("is unchanged without links", () => {
    const table = entriesAt("/", "/data/kubelet/pods");
    const same = rootAlias("/data/kubelet", "/data/kubelet");
    expect([same.toConfigured(table), same.toReal("/data/kubelet/x")]).toEqual([table, "/data/kubelet/x"]);
  });
});
