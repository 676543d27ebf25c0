import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../src/core/mount/mountInfo.ts";
import { createRemoteKind } from "../../../src/sinks/remoteKind.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const DIRECTORY = 0o040000;
const TYPE = 0o170000;

describe("a path on a file system that somebody else answers for", () => {
  const dir = temporaryDirectory();
  const mountedAt = (mountPoint: string, fsType: string) => async () =>
    parseMountInfo(`1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / ${mountPoint} rw - ${fsType} server:/export rw`);
  const failure = (look: Promise<unknown>) =>
    look.then(
      () => ({ code: "none", message: "" }),
      ({ code, message }: { code: string; message: string }) => ({ code, message }),
    );

  it("is looked at by a process, also behind links, and all others are not", async () => {
    const share = join(dir(), "share");
    await fs.mkdir(join(share, "sub"), { recursive: true });
    await fs.symlink("share", join(dir(), "link"));
    await fs.symlink(join(dir(), "link", "sub"), join(dir(), "far"));
    const kindOf = createRemoteKind({ readMounts: mountedAt(share, "nfs4") });
    const kinds = await Promise.all(["share", "share/sub", "link/sub", "far"].map((name) => kindOf(join(dir(), name))));
    expect(kinds.map((mode) => (typeof mode === "number" ? mode & TYPE : mode))).toEqual(kinds.map(() => DIRECTORY));
    const others = ["share/none", ".", "none", "share/../none"].map((name) => kindOf(`${dir()}/${name}`));
    expect(await Promise.all(others)).toEqual([undefined, "local", "local", undefined]);
    expect(await createRemoteKind({ readMounts: mountedAt(share, "xfs") })(share)).toBe("local");
  });

  it("holds no thread when nobody answers, and no second process", async () => {
    const [share, program, gate] = ["share", "hangs", "gate"].map((name) => join(dir(), name)) as [
      string,
      string,
      string,
    ];
    await fs.mkdir(share);
    execFileSync("mkfifo", [gate]);
    // As a process in the kernel's hands: it cannot be ended before its server is back.
    await fs.writeFile(program, `#!/bin/sh\n(trap '' TERM; read _ <${gate}; echo 41ed) &\nwait\n`, { mode: 0o755 });
    const kindOf = createRemoteKind({ program, readMounts: mountedAt(share, "nfs"), deadlineMs: 200 });
    const both = await Promise.all([failure(kindOf(share)), failure(kindOf(share))]);
    expect(both.toSorted((a, b) => (a.code < b.code ? 1 : -1))).toEqual([
      { code: "Unavailable", message: `cannot examine ${share}: an earlier look has not come back` },
      { code: "DeadlineExceeded", message: `cannot examine ${share}: its file system does not answer within 200 ms` },
    ]);
    await (await fs.open(gate, "w")).close();
  });
});
