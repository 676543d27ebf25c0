import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { contextOption, fileLabel, mountedLabel, usualFileLabel } from "../../../../src/core/selinux/fileLabel.ts";

const USUAL = "system_u:object_r:container_file_t:s0";

describe("fileLabel", () => {
  it.each([
    [{ level: "s0:c1,c2" }, "system_u:object_r:container_file_t:s0:c1,c2"],
    [{ level: "s0-s3:c0.c255", user: "staff_u" }, "staff_u:object_r:container_file_t:s0-s3:c0.c255"],
    // Roles and types are those of processes.
    [{ level: "s0:c1", role: "sysadm_r", type: "spc_t" }, "system_u:object_r:container_file_t:s0:c1"],
    [{ type: "spc_t" }, ""],
    [{}, ""],
  ])("of %o is %s", (options, expected) => {
    expect(fileLabel(options, USUAL)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ["level", 's0:c1"'],
    ["level", "s0:c1 "],
    ["level", "s0:c1\n"],
    ["level", "s0\\054ro"],
    ["level", `s0:${"c".repeat(1022)}`],
    ["user", "u:r"],
    ["user", 'u",suid,context="u'],
  ])("refuses a %s that would end the mount option", (field, value) => {
    const found = fileLabel({ level: "s0", [field]: value }, USUAL);
    expect(found).toMatchObject({
      error: {
        message: `failed to construct SELinux label from context: seLinuxOptions.${field} has more than 1024 characters, or others than an SELinux ${field} has`,
      },
    });
  });

  it("takes the longest level", () => {
    expect(fileLabel({ level: `s0:${"c".repeat(1021)}` }, USUAL)).toMatchObject({ ok: true });
  });
});

describe("usualFileLabel", () => {
  it.each([
    ['process = "system_u:system_r:container_t:s0"\nfile = "system_u:object_r:container_file_t:s0"\n', USUAL],
    [`  file=${USUAL}  `, USUAL],
    [`# file = "${USUAL}"\nro_file = "${USUAL}"`, undefined],
    ['file = "nothing"', undefined],
    ["", undefined],
  ])("reads %o", (contexts, expected) => {
    expect(usualFileLabel(contexts)).toBe(expected);
  });
});

describe("mountedLabel", () => {
  const superOptions = (options: string) => parseMountInfo(`36 35 98:0 / /v rw - ext4 /dev/x ${options}`)[0];

  it.each([
    [`rw,${contextOption(`${USUAL}:c1,c2`)},errors=continue`, `${USUAL}:c1,c2`, 3],
    ["rw,context=system_u:object_r:nfs_t:s0", "system_u:object_r:nfs_t:s0", 2],
    // Only these options have quotes.
    ['rw,rootcontext="a,b",lowerdir=x"y,z"', undefined, 4],
    ["rw,seclabel", undefined, 2],
  ])("of %s is %s", (options, label, count) => {
    const entry = superOptions(options);
    expect([entry && mountedLabel(entry), entry?.superOptions.length]).toEqual([label, count]);
  });
});
