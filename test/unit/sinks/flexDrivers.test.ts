import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import { createFlexCalls } from "../../../src/sinks/flexDrivers.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("calls to a flexVolume driver", () => {
  const placeOf = temporaryDirectory();
  let place = "";
  beforeEach(() => {
    place = placeOf();
  });
  const run = (script: string, args: readonly string[] = ["init"], deadlineMs?: number) => {
    mkdirSync(join(place, "acme~disk"), { recursive: true });
    writeFileSync(join(place, "acme~disk/disk"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(place, "acme~disk/disk"), 0o755);
    const options = deadlineMs === undefined ? {} : { deadlineMs };
    return lastValueFrom(createFlexCalls(place, realClock).run("acme/disk", args, options));
  };

  it("return everything it prints, in order, and how it ended", async () => {
    expect(await run('echo "$1"; echo "$2" >&2; exit 3', ["a b", '{"x":"$y"}'])).toEqual({
      printed: 'a b\n{"x":"$y"}\n',
      failure: "exit status 3",
    });
    expect(await run("kill -9 $$")).toEqual({ printed: "", failure: "signal: SIGKILL" });
    expect(await run("true")).toEqual({ printed: "" });
  });

  it("end with one that prints too much", async () => {
    expect((await run("head -c 65536 /dev/zero")).printed).toHaveLength(65536);
    await expect(run("head -c 65537 /dev/zero; sleep 1000")).rejects.toMatchObject({
      code: "Io",
      message: `flexVolume driver ${place}/acme~disk/disk printed more than 65536 bytes`,
    });
  });

  it("end with one that hangs, and with its children", async () => {
    const pid = join(place, "pid");
    await expect(run(`sleep 1000 & echo $! > ${pid}; wait`, ["mount"], 1_000)).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: "flexVolume driver acme/disk: mount: no answer within 1000 ms",
    });
    const child = readFileSync(pid, "utf8").trim();
    const isGone = () => !existsSync(`/proc/${child}`) || / Z /.test(readFileSync(`/proc/${child}/stat`, "utf8"));
    await waitFor("the end of the child", isGone);
  });

  it("do not wait for a daemon that keeps the output open, and leave it alone", async () => {
    const pid = join(place, "pid");
    expect(await run(`sleep 1000 & echo $! > ${pid}; echo done`)).toEqual({ printed: "done\n" });
    const daemon = Number(readFileSync(pid, "utf8"));
    expect(process.kill(daemon, 0)).toBe(true);
    process.kill(daemon);
  });

  it("fail for a driver that is missing, or that is no program", async () => {
    const calls = createFlexCalls(place, realClock);
    await expect(lastValueFrom(calls.run("acme/none", ["init"]))).rejects.toMatchObject({ code: "NotFound" });
    await run("true");
    chmodSync(join(place, "acme~disk/disk"), 0o644);
    await expect(lastValueFrom(calls.run("acme/disk", ["init"]))).rejects.toMatchObject({ code: "PermissionDenied" });
  });
});
