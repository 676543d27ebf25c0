import * as fs from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { createRemoteFiles } from "../../../../src/sinks/remote/remoteFiles.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { waitFor } from "../../../support/waitFor.ts";

const DIRECTORY = 0o040000;
const TYPE = 0o170000;

describe("a path on a remote file system", () => {
  const dir = temporaryDirectory();
  const mountedAt = (mountPoint: string, fsType: string) => async () =>
    parseMountInfo(`1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / ${mountPoint} rw - ${fsType} server:/export rw`);
  const share = async (): Promise<string> => {
    await fs.mkdir(join(dir(), "share", "sub"), { recursive: true });
    return join(dir(), "share");
  };

  it("is inspected by a program, also behind links, unlike a local path", async () => {
    const place = await share();
    await fs.symlink("share", join(dir(), "link"));
    await fs.symlink(join(dir(), "link", "sub"), join(dir(), "far"));
    const files = createRemoteFiles({ readMounts: mountedAt(place, "nfs4") });
    const look = async (path: string): Promise<number | string | undefined> => {
      const remote = await files.at(`${dir()}/${path}`);
      if (remote === undefined) return "local";
      const mode = (await remote.look())?.mode;
      return mode && mode & TYPE;
    };
    const paths = ["share", "share/sub", "link/sub", "far", "share/none", ".", "none", "share/../none"];
    expect(await Promise.all(paths.map(look))).toEqual([
      DIRECTORY,
      DIRECTORY,
      DIRECTORY,
      DIRECTORY,
      undefined,
      "local",
      "local",
      undefined,
    ]);
    expect(await createRemoteFiles({ readMounts: mountedAt(place, "xfs") }).at(place)).toBe(undefined);
  });

  it("is created by a program, with the requested mode", async () => {
    const files = createRemoteFiles({ readMounts: mountedAt(await share(), "nfs") });
    const [folder, file] = [join(dir(), "share", "a", "-b"), join(dir(), "share", "file with $(blanks)")];
    await (await files.at(folder))?.makeDirectory(0o701);
    await (await files.at(file))?.createFile(0o640);
    await fs.writeFile(file, "content");
    await (await files.at(file))?.createFile(0o644);
    expect([(await fs.stat(folder)).mode & 0o777, (await fs.stat(file)).mode & 0o777]).toEqual([0o701, 0o640]);
    expect(await fs.readFile(file, "utf8")).toBe("content");
    await expect((await files.at(join(file, "x")))?.makeDirectory(0o700)).rejects.toMatchObject({ code: "Io" });
  });

  it("takes one program per path and 16 in all while the server does not answer, however many callers there are", async () => {
    const place = await share();
    const [program, started] = [join(dir(), "hangs"), join(dir(), "started")];
    await fs.writeFile(program, `#!/bin/sh\necho >>${started}\nexec sleep 60\n`, { mode: 0o755 });
    const deadlineMs = 4_000;
    const files = createRemoteFiles({ program, readMounts: mountedAt(place, "nfs"), deadlineMs });
    const look = async (name: string) => (await files.at(join(place, name)))?.look();
    const first = [look("0"), look("0")];
    const others = Array.from({ length: 15 }, (_, index) => look(`${index + 1}`));
    const running = Promise.allSettled([...first, ...others]);
    const programs = async (): Promise<number> => (await fs.readFile(started, "utf8").catch(() => "")).length;
    await waitFor("16 programs", async () => (await programs()) === 16);
    const ends = [...(await Promise.allSettled([look("16")])), ...(await running)];
    const late = { status: "rejected", reason: { code: "DeadlineExceeded" } };
    expect(ends.slice(1)).toMatchObject(Array.from({ length: 17 }, () => late));
    expect(ends[1]).toMatchObject({
      reason: { message: `cannot examine ${place}/0: its file system does not answer within 4000 ms` },
    });
    expect(ends[0]).toMatchObject({
      reason: { code: "Unavailable", message: `cannot examine ${place}/16: 16 other looks have not come back` },
    });
    expect(await programs()).toBe(16);
  });
});
