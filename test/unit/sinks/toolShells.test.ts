/** Tools run by real shells: /bin/sh, and the other shells of this machine. */
import { closeSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runTool } from "../../../src/sinks/mounts/mountTool.ts";
import { createToolShells, type ToolShells } from "../../../src/sinks/toolShells.ts";
import { findProgram } from "../../support/findProgram.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

interface End {
  readonly said: string;
  readonly status: number | undefined;
}

/** Children of a process. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** Shells of this process: children that have this file open as 3. */
const shellsWith = (file: string): readonly number[] =>
  childrenOf(process.pid).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/3`) === file;
    } catch {
      return false;
    }
  });

describe("shells for tools", () => {
  const dir = temporaryDirectory();
  let descriptor = -1;
  let shells: ToolShells;
  const lockFile = (): string => join(dir(), "lock");
  beforeEach(() => {
    descriptor = openSync(lockFile(), "a");
    shells = createToolShells();
  });
  afterEach(() => {
    for (const pid of shellsWith(lockFile())) process.kill(pid, "SIGKILL");
    closeSync(descriptor);
  });
  const start = (program: string, args: readonly string[], by = shells) => {
    let said = "";
    let kill: (() => void) | undefined;
    const end = new Promise<End>((resolve) => {
      kill = by.start(
        {
          program,
          args,
          hear: (piece) => (said += piece.toString()),
          whenEnded: (status) => resolve({ said, status }),
        },
        descriptor,
      );
    });
    return { kill, end };
  };

  const others = ["dash", "bash"].flatMap((name) => findProgram(name) ?? []);
  it.each(["/bin/sh", ...others])("%s hands over each word as it is", async (path) => {
    const words = ["it's", "a b", '$HOME `id` \\ "', "two\nlines", "", "*", "-n", "ü"];
    const { end } = start("printf", ["<%s>", ...words], createToolShells(path));
    expect(await end).toEqual({ said: words.map((word) => `<${word}>`).join(""), status: 0 });
  });

  it("report the exit status and both outputs", async () => {
    expect(await start("sh", ["-c", "echo out; echo err >&2; exit 3"]).end).toEqual({ said: "out\nerr\n", status: 3 });
  });

  it("run one tool after the other in the same shell", async () => {
    for (const status of [1, 0, 2]) {
      expect(await start("sh", ["-c", `echo ${status}; exit ${status}`]).end).toEqual({ said: `${status}\n`, status });
    }
    expect(shellsWith(lockFile())).toHaveLength(1);
  });

  it("are four, side by side; a fifth tool is not started", async () => {
    const four = [1, 2, 3, 4].map(() => start("sleep", ["1000"]));
    expect(start("true", []).kill).toBeUndefined();
    for (const { kill } of four) kill?.();
    for (const { end } of four) expect(await end).toEqual({ said: "", status: 137 });
    expect(await start("true", []).end).toEqual({ said: "", status: 0 });
  });

  it("give a tool the descriptor, no input and the C locale", async () => {
    const { end } = start("sh", ["-c", 'readlink /proc/self/fd/3; cat; echo "$LC_ALL"']);
    expect((await end).said).toBe(`${lockFile()}\nC\n`);
  });

  it("report all of a long output", async () => {
    const { said, status } = await start("sh", ["-c", "head -c 300000 /dev/zero | tr '\\0' x"]).end;
    expect({ length: said.length, status }).toEqual({ length: 300_000, status: 0 });
  });

  it("tell of a program that is not there", async () => {
    expect(await start("no-such-tool", []).end).toMatchObject({ status: 127 });
  });

  it("tell of a tool that outlived its shell when it has ended, and are replaced", async () => {
    const { end } = start("sleep", ["1000"]);
    const tools = () => shellsWith(lockFile()).flatMap(childrenOf);
    await waitFor("the tool", () => tools().length === 1);
    const [tool = 0] = tools();
    for (const pid of shellsWith(lockFile())) process.kill(pid, "SIGKILL");
    await waitFor("the end of the shell", () => shellsWith(lockFile()).length === 0);
    expect(await start("echo", ["again"]).end).toEqual({ said: "again\n", status: 0 });
    process.kill(tool, "SIGKILL");
    expect(await end).toEqual({ said: "", status: undefined });
  });

  it("leave a program that is not there to a child of this process, whose error tells of it", async () => {
    const { signal } = new AbortController();
    const tool = { program: "no-such-tool", args: [], what: "try it", mayUseShell: true };
    await expect(runTool({ ...tool, shells, inherited: descriptor, signal })).rejects.toMatchObject({
      code: "NotFound",
      message: "cannot run no-such-tool: ENOENT",
    });
  });

  it.each([
    ["exit 32", "exit status 32"],
    ["kill -KILL $$", "signal: SIGKILL"],
  ])("fail with the words of a child: %s", async (script, how) => {
    const { signal } = new AbortController();
    const tool = { program: "sh", args: ["-c", `echo why; ${script}`], what: "try it", signal };
    for (const by of [{ mayUseShell: true, shells, inherited: descriptor }, {}]) {
      await expect(runTool({ ...tool, ...by })).rejects.toMatchObject({
        code: "Io",
        message: `cannot try it: ${how}: why`,
      });
    }
  });

  it("are tried again after one that could not be started", async () => {
    const unopened = 1_000_000;
    const tool = { program: "true", args: [], hear: () => undefined, whenEnded: () => undefined };
    expect(shells.start(tool, unopened)).toBeUndefined();
    await turn();
    expect(await start("echo", ["again"]).end).toEqual({ said: "again\n", status: 0 });
  });

  it("start nothing without a shell, and nothing with a null byte", () => {
    expect(start("true", [], createToolShells("/no/such/shell")).kill).toBeUndefined();
    expect(start("printf", ["a\0b"]).kill).toBeUndefined();
  });
});
