import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHostDisks } from "../../../src/sinks/hostDisks.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

describe("the disks of a node", () => {
  const placeOf = temporaryDirectory();
  const path = process.env["PATH"];
  let root = "";
  beforeEach(() => {
    root = placeOf();
    for (const directory of [
      ...["dev/disk/by-path", "sys/class/scsi_host/host0", "sys/class/scsi_host/host1", "sys/block/sdb/device"],
      ...["sys/block/dm-0/slaves/sdb", "sys/block/dm-0/slaves/sdc", "sys/block/dm-1/slaves", "bin"],
    ]) {
      mkdirSync(join(root, directory), { recursive: true });
    }
    writeFileSync(join(root, "dev/sdb"), "");
    symlinkSync("../../sdb", join(root, "dev/disk/by-path/fc-0x1-lun-0"));
    symlinkSync("../../sdz", join(root, "dev/disk/by-path/dangling"));
  });
  afterEach(() => {
    process.env["PATH"] = path;
  });
  const disks = () => createHostDisks({ clock: realClock, root });
  const tool = (name: string, script: string) => {
    writeFileSync(join(root, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, "bin", name), 0o755);
    process.env["PATH"] = `${join(root, "bin")}:${path}`;
  };

  it("are found by their links", async () => {
    expect(await lastValueFrom(disks().links("by-path"))).toEqual(["dangling", "fc-0x1-lun-0"]);
    expect(await lastValueFrom(disks().links("by-id"))).toEqual([]);
    expect(await lastValueFrom(disks().deviceOf("/dev/disk/by-path/fc-0x1-lun-0"))).toBe("/dev/sdb");
    expect(await lastValueFrom(disks().deviceOf("/dev/disk/by-path/dangling"))).toBeUndefined();
  });

  it("know their multipath device, and it its members", async () => {
    expect(await lastValueFrom(disks().multipathOf("/dev/sdb"))).toBe("/dev/dm-0");
    expect(await lastValueFrom(disks().multipathOf("/dev/sdd"))).toBeUndefined();
    expect(await lastValueFrom(disks().membersOf("/dev/dm-0"))).toEqual(["/dev/sdb", "/dev/sdc"]);
  });

  it("are scanned for and removed through sysfs", async () => {
    await lastValueFrom(disks().rescan(), { defaultValue: undefined });
    await lastValueFrom(disks().remove("/dev/sdb"), { defaultValue: undefined });
    const read = (file: string) => readFileSync(join(root, file), "utf8");
    expect([
      read("sys/class/scsi_host/host0/scan"),
      read("sys/class/scsi_host/host1/scan"),
      read("sys/block/sdb/device/delete"),
    ]).toEqual(["- - -", "- - -", "1"]);
  });

  it("are flushed and removed with the tools of the host", async () => {
    tool("multipath", `echo "$*" >> ${root}/calls`);
    tool("blockdev", `echo "$*" >> ${root}/calls`);
    await lastValueFrom(disks().removeMultipath("/dev/dm-0"), { defaultValue: undefined });
    await lastValueFrom(disks().flush("/dev/sdb"), { defaultValue: undefined });
    expect(readFileSync(join(root, "calls"), "utf8")).toBe("-f /dev/dm-0\n--flushbufs /dev/sdb\n");
    tool("multipath", "echo map in use; exit 1");
    await expect(lastValueFrom(disks().removeMultipath("/dev/dm-0"))).rejects.toMatchObject({
      message: "cannot flush multipath device /dev/dm-0: exit status 1: map in use",
    });
  });

  it("name a tool that is missing", async () => {
    process.env["PATH"] = join(root, "bin");
    await expect(lastValueFrom(disks().removeMultipath("/dev/dm-0"))).rejects.toMatchObject({
      code: "NotFound",
      message: "cannot flush multipath device /dev/dm-0: multipath is not installed on this node",
    });
  });
});
