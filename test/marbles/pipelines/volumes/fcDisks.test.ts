import { EMPTY, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { FcDisk } from "../../../../src/core/disk/fcDisk.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { detachFcDisk, findFcDisk } from "../../../../src/pipelines/volumes/fcDisks.ts";
import type { HostDisks } from "../../../../src/ports/hostDisks.ts";

const DISK: FcDisk = { wwns: ["1", "2"], lun: 0, wwids: [] };
const BY_ID: FcDisk = { wwns: [], lun: 0, wwids: ["w"] };

interface Node {
  /** Devices by link, before and after a scan. */
  readonly links?: Readonly<Record<string, string>>;
  readonly afterScan?: Readonly<Record<string, string>>;
  /** Multipath devices by member. */
  readonly multipath?: Readonly<Record<string, string>>;
  readonly missing?: readonly string[];
}

/** Disks of a node, and the calls that change something. */
function nodeOf({ links = {}, afterScan = links, multipath = {}, missing = [] }: Node) {
  const calls: string[] = [];
  let known = links;
  const changing = (call: string) => {
    const tool = call.split(" ")[0] ?? "";
    if (missing.includes(tool))
      return throwError(() => kubeletError("NotFound", `${tool} is not installed on this node`));
    calls.push(call);
    return EMPTY;
  };
  const disks: HostDisks = {
    links: () => of(Object.keys(known).sort()),
    deviceOf: (path) => of(path.startsWith("/dev/disk/") ? known[path.split("/").at(-1) ?? ""] : path),
    multipathOf: (device) => of(multipath[device]),
    membersOf: (dm) => of(Object.keys(multipath).filter((member) => multipath[member] === dm)),
    rescan: () => {
      known = afterScan;
      return changing("scan");
    },
    flush: (device) => changing(`flush ${device}`),
    removeMultipath: (device) => changing(`multipath ${device}`),
    remove: (device) => changing(`remove ${device}`),
  };
  return { disks, calls };
}

function outcome(node: Node, disk: FcDisk = DISK) {
  const { disks, calls } = nodeOf(node);
  let ended = "";
  findFcDisk(disks, disk).subscribe({
    next: (device) => (ended = device),
    error: (thrown) => (ended = (thrown as { message: string }).message),
  });
  return [ended, ...calls];
}

describe("a Fibre Channel disk", () => {
  it.each<[string, Node, FcDisk, readonly string[]]>([
    ["is its device, after a scan", { links: { "fc-0x1-lun-0": "/dev/sdb" } }, DISK, ["/dev/sdb", "scan"]],
    [
      "is its multipath device, which needs no scan",
      { links: { "fc-0x1-lun-0": "/dev/sdb", "fc-0x2-lun-0": "/dev/sdc" }, multipath: { "/dev/sdc": "/dev/dm-0" } },
      DISK,
      ["/dev/dm-0"],
    ],
    ["may appear with the scan", { afterScan: { "fc-0x2-lun-0": "/dev/sdc" } }, DISK, ["/dev/sdc", "scan"]],
    ["is found by its identifier", { links: { "scsi-w": "/dev/sdb" } }, BY_ID, ["/dev/sdb", "scan"]],
    ["is not another one", { links: { "fc-0x1-lun-1": "/dev/sdb" } }, DISK, ["no fc disk found", "scan"]],
    ["is not a link that leads nowhere", { links: { "fc-0x1-lun-0": "" } }, BY_ID, ["no fc disk found", "scan"]],
  ])("%s", (_rule, node, disk, expected) => expect(outcome(node, disk)).toEqual(expected));
});

describe("the removal of a Fibre Channel disk", () => {
  const removed = (node: Node, source: string) => {
    const { disks, calls } = nodeOf(node);
    let failure = "";
    detachFcDisk(disks, source).subscribe({
      error: (thrown) => (failure = (thrown as { message: string }).message),
    });
    return failure === "" ? calls : [failure, ...calls];
  };

  it("flushes and removes its device", () => {
    expect(removed({}, "/dev/sdb")).toEqual(["flush /dev/sdb", "remove /dev/sdb"]);
  });

  it("removes the multipath device first, then each path", () => {
    expect(removed({ multipath: { "/dev/sdb": "/dev/dm-0", "/dev/sdc": "/dev/dm-0" } }, "/dev/dm-0")).toEqual([
      ...["multipath /dev/dm-0", "flush /dev/sdb", "remove /dev/sdb", "flush /dev/sdc", "remove /dev/sdc"],
    ]);
  });

  it("names the tool that is missing, and removes no path then", () => {
    const node = { multipath: { "/dev/sdb": "/dev/dm-0" }, missing: ["multipath"] };
    expect(removed(node, "/dev/dm-0")).toEqual([
      "fc: failed to detach disk: /dev/dm-0: multipath is not installed on this node",
    ]);
  });

  it("goes on without a flush, as upstream", () => {
    expect(removed({ missing: ["flush"] }, "/dev/sdb")).toEqual(["remove /dev/sdb"]);
  });
});
