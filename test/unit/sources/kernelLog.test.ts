/** Files that a machine may have in place of its kernel log. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openKernelLog } from "../../../src/sources/kernelLog.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

describe("openKernelLog", () => {
  const folder = temporaryDirectory();

  it("refuses a file, a directory and another device without opening it", () => {
    writeFileSync(`${folder()}/kmsg`, "6,1,0,-;text");
    for (const path of [`${folder()}/kmsg`, folder(), "/dev/null"]) {
      expect(() => openKernelLog(path)).toThrow(`cannot open ${path}: it is not the kernel log`);
    }
  });

  it("reports that there is none", () => {
    expect(() => openKernelLog(`${folder()}/none`)).toThrow("ENOENT");
  });
});
