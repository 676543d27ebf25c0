import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { rootSharing } from "../../../../src/core/mount/rootSharing.ts";

const ROOT = "/var/lib/kubelet";
const mount = (mountPoint: string, tags = ""): string =>
  `1 0 8:1 / ${mountPoint} rw ${tags === "" ? "" : `${tags} `}- ext4 /dev/sda rw`;

describe("rootSharing", () => {
  it.each([
    ["a shared file system holds it", [mount("/", "shared:1")], "isShared"],
    ["it was bound to itself before", [mount("/"), mount(ROOT, "shared:2"), mount(`${ROOT}/pods/p/v`)], "isShared"],
    ["a private one holds it", [mount("/"), mount("/var/lib/kubelets")], "bindToItself"],
    ["it is on a mount that only receives", [mount("/", "master:1")], "bindToItself"],
    ["it is its own private mount", [mount("/"), mount(ROOT), mount(`${ROOT}/pods/p/v`)], "makeShared"],
    ["something is mounted below that a bind would hide", [mount("/"), mount(`${ROOT}/pods/p/v`)], "isInUse"],
  ])("when %s", (_when, lines, expected) => {
    expect(rootSharing(parseMountInfo(lines.join("\n")), ROOT)).toBe(expected);
  });
});
