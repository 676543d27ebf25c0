import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { waitFor } from "../support/waitFor.ts";
import { ending } from "./runtimeFixture.ts";
import type { RuntimeFeatures, RuntimeUnderTest } from "./runtimeFixture.ts";

/** Time, stream, tag, text. */
const LOG_LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP]) (.*)$/;

/** Stream, tag and text of each line. */
type Parts = (lines: readonly string[]) => readonly (readonly string[])[];

const criParts: Parts = (lines) => lines.map((line) => (LOG_LINE.exec(line) ?? [line]).slice(1));

/** An object per line, whose text ends as the program's line did. */
const dockerParts: Parts = (lines) =>
  lines.map((line) => {
    const { log, stream, time } = JSON.parse(line) as {
      readonly log: string;
      readonly stream: string;
      readonly time: string;
    };
    if (Number.isNaN(Date.parse(time))) return [line];
    return [stream, log.endsWith("\n") ? "F" : "P", log.replace(/\n$/, "")];
  });

/** Output, commands and files inside containers. */
export function insideConformance(under: () => RuntimeUnderTest, features: RuntimeFeatures): void {
  if (features.logs) logConformance(under, features);
  if (features.exec) execConformance(under);
  if (features.mounts) mountConformance(under);
}

function logConformance(under: () => RuntimeUnderTest, { logFormat }: RuntimeFeatures): void {
  const textOf = logFormat === "docker" ? dockerParts : criParts;

  it("writes output as log lines to log_path below log_directory", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.prints("out: ä", "err: ö"), { logPath: "main/0.log" });
    const { logPath } = await under().exited(id);
    expect(logPath).toBe(join(sandbox.config.logDirectory, "main/0.log"));
    expect([...textOf(await under().logLines(logPath, 2))].sort()).toEqual([
      ["stderr", "F", "err: ö"],
      ["stdout", "F", "out: ä"],
    ]);
  });

  it("gives the container its environment and working directory", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.printsEnvironment("GREETING"), {
      envs: [{ key: "GREETING", value: Buffer.from("hello, wörld = $HOME") }],
      workingDir: "/tmp",
      logPath: "env.log",
    });
    const { logPath } = await under().exited(id);
    expect(textOf(await under().logLines(logPath, 2)).map(([, , text]) => text)).toEqual([
      "hello, wörld = $HOME",
      "/tmp",
    ]);
  });

  if (logFormat === "docker") {
    it("refuses ReopenContainerLog, and the log goes on", async () => {
      const sandbox = await under().sandbox();
      const containerId = await under().run(sandbox, under().programs.printsForever("tick"), { logPath: "stays.log" });
      const reopen = under().runtime.reopenContainerLog(cri.ReopenContainerLogRequest.create({ containerId }));
      expect(await ending(reopen)).toEqual({ error: "Unimplemented" });
      const path = join(sandbox.config.logDirectory, "stays.log");
      const { length } = await under().logLines(path, 1);
      await under().logLines(path, length + 1);
    });
    return;
  }

  it("goes on in a new file after ReopenContainerLog", async () => {
    const sandbox = await under().sandbox();
    const containerId = await under().run(sandbox, under().programs.printsForever("tick"), { logPath: "rotate.log" });
    const path = join(sandbox.config.logDirectory, "rotate.log");
    await under().logLines(path, 1);
    await rename(path, `${path}.1`);
    await firstValueFrom(under().runtime.reopenContainerLog(cri.ReopenContainerLogRequest.create({ containerId })));
    const rotated = await readFile(`${path}.1`, "utf8");
    await under().logLines(path, 1);
    expect(await readFile(`${path}.1`, "utf8")).toBe(rotated);
  });
}

function execConformance(under: () => RuntimeUnderTest): void {
  const shell = (script: string): readonly string[] => [...under().fixture.shell, script];

  it("gives output and exit code of ExecSync, whatever the code", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.runsUntilTerm(0));
    const exec = under().execSync(id, shell("echo out; echo err >&2; exit 7"), 20);
    const { stdout, stderr, exitCode } = await firstValueFrom(exec);
    expect([Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode]).toEqual(["out\n", "err\n", 7]);
  });

  it("ends ExecSync at its timeout with DeadlineExceeded, and the container goes on", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.runsUntilTerm(0));
    expect(await ending(under().execSync(id, shell("sleep 30"), 1))).toEqual({ error: "DeadlineExceeded" });
    expect((await under().status(id)).state).toBe(cri.ContainerState.CONTAINER_RUNNING);
  });

  it("refuses ExecSync in a container that does not run", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.exits(0));
    await under().exited(id);
    expect(await ending(under().execSync(id, shell("true"), 5))).toHaveProperty("error");
  });
}

function mountConformance(under: () => RuntimeUnderTest): void {
  it("shows host directories inside, writable or read-only as asked", async () => {
    const sandbox = await under().sandbox();
    const folder = join(under().fixture.logRoot, under().fresh("volume"));
    await mkdir(folder);
    await writeFile(join(folder, "given"), "from outside\n");
    const script = "cat /rw/given > /rw/copied; touch /ro/refused 2>/dev/null; echo $? > /rw/status";
    await under().run(sandbox, [...under().fixture.shell, script], {
      mounts: [
        { containerPath: "/rw", hostPath: folder },
        { containerPath: "/ro", hostPath: folder, readonly: true },
      ],
    });
    expect(await waitFor("the container to write", () => readFile(join(folder, "status"), "utf8"))).not.toBe("0\n");
    expect(await readFile(join(folder, "copied"), "utf8")).toBe("from outside\n");
  });
}
