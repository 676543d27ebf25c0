import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Call } from "../../../src/ports/call.ts";
import { createLogFiles } from "../../../src/sinks/logFiles.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const logFiles = createLogFiles({ podLogsDir: tmpdir() });
const done = <T>(call: Call<T>): Promise<T> => lastValueFrom(call);
const failure = (call: Call<unknown>) =>
  lastValueFrom(call).then(
    () => "no failure",
    ({ code }: { code: string }) => code,
  );

describe("logFiles", () => {
  const dir = temporaryDirectory();
  const at = (name: string): string => join(dir(), name);

  it("tells the size of a file, and nothing of one that is not there", async () => {
    await fs.writeFile(at("a"), "12345");
    await fs.symlink(at("a"), at("link"));
    expect([await done(logFiles.sizeOf(at("a"))), await done(logFiles.sizeOf(at("b")))]).toEqual([5, undefined]);
    expect([await failure(logFiles.sizeOf(at("link"))), await failure(logFiles.sizeOf(dir()))]).toEqual([
      "InvalidArgument",
      "InvalidArgument",
    ]);
  });

  it.each<[action: string, (path: string) => Call<unknown>]>([
    ["examine", (path) => logFiles.sizeOf(path)],
    ["move", (path) => logFiles.move(path, `${path}.1`)],
    ["compress", (path) => logFiles.compress(path)],
    ["list what was rotated of", (path) => logFiles.rotatedOf(path)],
    ["remove what was rotated of", (path) => logFiles.removeRotated(path)],
  ])("names action and path when it cannot %s a file", async (action, run) => {
    await fs.writeFile(at("file"), "");
    const path = at("file/below/log");
    await expect(done(run(path))).rejects.toMatchObject({
      message: expect.stringContaining(`cannot ${action} ${at("file")}`),
    });
  });

  it("reads the end of a log, with no link on the way to it", async () => {
    const logs = createLogFiles({ podLogsDir: at("alias") });
    await fs.mkdir(at("pods/ns_pod_uid/main"), { recursive: true });
    await fs.symlink("pods", at("alias"));
    await fs.mkdir(at("secret"));
    await fs.writeFile(at("secret/0.log"), "secret");
    await fs.writeFile(at("pods/ns_pod_uid/main/0.log"), "a log");
    await fs.symlink(at("secret/0.log"), at("pods/ns_pod_uid/main/1.log"));
    await fs.symlink(at("secret"), at("pods/ns_pod_uid/other"));
    execFileSync("mkfifo", [at("pods/ns_pod_uid/main/2.log")]);
    const tail = (path: string) => done(logs.tail(at(path), 3)).catch(({ code }: { code: string }) => code);
    const paths = ["alias/ns_pod_uid/main/0", "pods/ns_pod_uid/main/0", "alias/ns_pod_uid/main/1"];
    const others = ["alias/ns_pod_uid/other/0", "alias/ns_pod_uid/main/2", "secret/0", "alias/ns_pod_uid/main/9"];
    expect(await Promise.all([...paths, ...others].map((path) => tail(`${path}.log`)))).toEqual([
      "log",
      "log",
      ...Array.from({ length: 4 }, () => "PermissionDenied"),
      "NotFound",
    ]);
  });

  it("compresses a log beside a FIFO with the name of the unfinished file", async () => {
    await fs.writeFile(at("a"), "content");
    execFileSync("mkfifo", [at("a.tmp")]);
    await done(logFiles.compress(at("a")));
    expect([await fs.readdir(dir()), gunzipSync(await fs.readFile(at("a.gz"))).toString()]).toEqual([
      ["a.gz"],
      "content",
    ]);
  });

  it("tells which paths have no small file", async () => {
    await fs.writeFile(at("small"), "1234");
    await fs.writeFile(at("large"), "12345");
    await fs.symlink(at("small"), at("link"));
    const paths = ["small", "large", "link", "gone", "small/below"].map(at);
    expect(await done(logFiles.notSmaller([dir(), ...paths], 5))).toEqual([
      dir(),
      ...["large", "link", "gone", "small/below"].map(at),
    ]);
    expect(await done(logFiles.notSmaller([], 5))).toEqual([]);
  });

  it("moves a file, and never over another", async () => {
    await fs.writeFile(at("a"), "a");
    const { ino } = await fs.stat(at("a"));
    await done(logFiles.move(at("a"), at("b")));
    await fs.writeFile(at("a"), "other");
    expect([await failure(logFiles.move(at("a"), at("b"))), await failure(logFiles.move(at("c"), at("d")))]).toEqual([
      "AlreadyExists",
      "NotFound",
    ]);
    expect([(await fs.stat(at("b"))).ino, (await fs.readdir(dir())).sort()]).toEqual([ino, ["a", "b"]]);
  });

  it("compresses a file in its place, with its mode", async () => {
    const content = "line\n".repeat(200_000);
    await fs.writeFile(at("a"), content, { mode: 0o640 });
    await fs.writeFile(at("a.tmp"), "left by another try, and longer than what comes".repeat(1000));
    await done(logFiles.compress(at("a")));
    expect(await fs.readdir(dir())).toEqual(["a.gz"]);
    expect(gunzipSync(await fs.readFile(at("a.gz"))).toString()).toBe(content);
    await fs.writeFile(at("b"), "");
    await done(logFiles.compress(at("b")));
    expect([(await fs.stat(at("b.gz"))).mode & 0o777, gunzipSync(await fs.readFile(at("b.gz"))).length]).toEqual([
      0o644, 0,
    ]);
  });

  it("compresses neither links nor directories, and leaves nothing behind", async () => {
    await fs.writeFile(at("secret"), "x");
    await fs.symlink(at("secret"), at("link"));
    await fs.mkdir(at("d"));
    expect([
      await failure(logFiles.compress(at("link"))),
      await failure(logFiles.compress(at("d"))),
      await failure(logFiles.compress(at("none"))),
    ]).toEqual(["InvalidArgument", "InvalidArgument", "NotFound"]);
    expect((await fs.readdir(dir())).sort()).toEqual(["d", "link", "secret"]);
  });

  it("removes what was rotated of one log, and nothing else", async () => {
    const rotated = ["0.log.20260102-030405", "0.log.20260102-030404.gz", "0.log.20260102-030404.tmp"];
    const others = ["0.log", "1.log.20260102-030405", "10.log", "0.logs"];
    for (const name of [...rotated, ...others]) await fs.writeFile(at(name), "");
    await done(logFiles.removeRotated(at("0.log")));
    expect((await fs.readdir(dir())).sort()).toEqual([...others].sort());
    await done(logFiles.removeRotated(at("none/0.log")));
  });

  it("leaves the file as it was when it is cancelled", async () => {
    await fs.writeFile(at("a"), Buffer.alloc(20_000_000));
    const watcher = fs.watch(dir());
    const subscription = logFiles
      .compress(at("a"))
      .subscribe({ error: (thrown: unknown) => expect.fail(String(thrown)) });
    for await (const { filename } of watcher) {
      if (filename !== "a.tmp") continue;
      subscription.unsubscribe();
      if (!(await fs.readdir(dir())).includes("a.tmp")) break;
    }
    expect([await fs.readdir(dir()), (await fs.stat(at("a"))).size]).toEqual([["a"], 20_000_000]);
  });
});
