import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { parseMountInfo } from "../../../src/core/mount/mountInfo.ts";
import type { Call } from "../../../src/ports/call.ts";
import { createProjectQuotas } from "../../../src/sinks/projectQuotas.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const done = <T>(call: Call<T>): Promise<T> => lastValueFrom(call, { defaultValue: undefined as T });

const temporary = temporaryDirectory();

interface FileSystem {
  readonly fsType?: string;
  readonly state?: string;
  /** KiB and files of projects, which xfs_quota tells. */
  readonly used?: ReadonlyMap<string, readonly [kib: number, files: number]>;
  readonly fails?: boolean;
}

/** A directory for pods, and one for the files of projects, on a file system like this. */
async function quotasOn({ fsType = "xfs", state = "Accounting: ON", used, fails = false }: FileSystem = {}) {
  const folder = await fs.realpath(temporary());
  const asked: string[] = [];
  const open = () =>
    createProjectQuotas({
      clock: realClock,
      log: recordingTelemetry().log,
      etcDir: folder,
      readMounts: async () => parseMountInfo(`28 1 8:1 / / rw - ${fsType} /dev/sda1 rw,prjquota`),
      ask: async (_mount, commands) => {
        if (fails) throw kubeletError("NotFound", "cannot run xfs_quota: ENOENT");
        if (commands[0] === "state -p") return state;
        const [kib, files] = used?.get(commands[0]?.split(" ").at(-1) ?? "") ?? [];
        if (commands[0]?.startsWith("quota") === true) {
          return kib === undefined ? "" : `/dev/sda1 ${kib} 0 0 00 [-] /\n/dev/sda1 ${files} 0 0 00 [-] /\n`;
        }
        asked.push(...commands);
        return "";
      },
    });
  const dirOf = async (name: string): Promise<string> => {
    await fs.mkdir(join(folder, "pods", name), { recursive: true });
    return join(folder, "pods", name);
  };
  const text = (name: string): Promise<string> => fs.readFile(join(folder, name), "utf8");
  return { open, asked, dirOf, text, folder };
}

describe("project quotas", () => {
  it("count a directory from when it was assigned, and again after a restart", async () => {
    const on = await quotasOn();
    const dir = await on.dirOf("a");
    const first = on.open();
    expect([await done(first.usage(dir)), await done(first.assign(dir)), await done(first.usage(dir))]).toEqual([
      undefined,
      true,
      { bytes: 0n, inodes: 0n },
    ]);
    expect([await on.text("projects"), await on.text("projid")]).toEqual([
      `1048577:${dir}\n`,
      "volume1048577:1048577\n",
    ]);
    const commands = [
      "limit -p bhard=9223372036854775807 bsoft=9223372036854775807 1048577",
      `project -s -p ${dir} 1048577`,
    ];
    expect(on.asked).toEqual(commands);
    const next = on.open();
    expect(await done(next.assign(dir))).toBe(true);
    expect([on.asked, await on.text("projects")]).toEqual([[...commands, ...commands], `1048577:${dir}\n`]);
  });

  it("report the usage of the file system, and skip the ids of existing projects", async () => {
    const on = await quotasOn({
      used: new Map([
        ["1048577", [4, 1]],
        ["1048578", [312, 4]],
      ]),
    });
    const [dir, quotas] = [await on.dirOf("a"), on.open()];
    await done(quotas.assign(dir));
    expect(await on.text("projects")).toBe(`1048579:${dir}\n`);
    await fs.writeFile(join(on.folder, "projects"), `1048578:${dir}\n`);
    await done(quotas.assign(dir));
    expect(await done(quotas.usage(dir))).toEqual({ bytes: 312n * 1024n, inodes: 4n });
  });

  it("are cleared for all directories below a removed one", async () => {
    const on = await quotasOn();
    const [a, b, quotas] = [await on.dirOf("u/a"), await on.dirOf("v/b"), on.open()];
    for (const dir of [a, b]) await done(quotas.assign(dir));
    on.asked.length = 0;
    await done(quotas.clear(join(on.folder, "pods/u")));
    await done(quotas.clear(join(on.folder, "pods/u")));
    expect([on.asked, await on.text("projects"), await done(quotas.usage(a))]).toEqual([
      ["limit -p bhard=0 bsoft=0 1048577"],
      `1048578:${b}\n`,
      undefined,
    ]);
  });

  it.each<[string, FileSystem]>([
    ["another file system", { fsType: "btrfs" }],
    ["a file system that does not count", { state: "Accounting: OFF" }],
    ["no program to ask", { fails: true }],
  ])("are not available with %s, without a warning", async (_what, fileSystem) => {
    const on = await quotasOn(fileSystem);
    const [dir, quotas] = [await on.dirOf("a"), on.open()];
    expect([await done(quotas.assign(dir)), await done(quotas.usage(dir)), await fs.readdir(on.folder)]).toEqual([
      false,
      undefined,
      ["pods"],
    ]);
  });

  it("do not replace project files that are links", async () => {
    const on = await quotasOn();
    await fs.symlink("/dev/null", join(on.folder, "projid"));
    expect(await done(on.open().assign(await on.dirOf("a")))).toBe(false);
    expect(await fs.readlink(join(on.folder, "projid"))).toBe("/dev/null");
  });
});
