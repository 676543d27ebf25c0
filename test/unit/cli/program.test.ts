import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeConfigReaders } from "../../../src/cli/configReaders.ts";
import { FLAG_GROUPS } from "../../../src/cli/flagSpec.ts";
import { helpText, runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) => runProgram(argv, { version: "1.2.3", readers: memoryReaders({}) });

describe("runProgram", () => {
  it("starts the daemon without a sub-command", async () => {
    const invocation = await run("--node-labels=a=b", "--pod-manifest-path", "/m");
    if (invocation.command !== "kubelet") throw new Error(JSON.stringify(invocation));
    const { flags, config, featureGates } = invocation.options;
    expect([flags.nodeLabels, config.staticPodPath, featureGates.get("AllAlpha")]).toEqual([{ a: "b" }, "/m", false]);
  });

  it.each([["--version"], ["--version=raw"], ["--version=true"]])("prints the version for %s", async (argument) => {
    expect(await run(argument)).toEqual({ command: "version", text: "Kubernetes v1.2.3" });
  });

  it("does not print it for --version=false", async () => {
    expect((await run("--version=false")).command).toBe("kubelet");
  });

  it.each<[readonly string[], "kubelet" | "dev" | "runtime"]>([
    [["--help"], "kubelet"],
    [["-h"], "kubelet"],
    [["help"], "kubelet"],
    [["--max-pods=x", "--help"], "kubelet"],
    [["dev", "--help"], "dev"],
    [["help", "dev"], "dev"],
    [["runtime", "-h"], "runtime"],
  ])("prints help for %j", async (argv, command) => {
    expect(await run(...argv)).toEqual({ command: "help", text: helpText(command) });
  });

  it("reads the options of dev", async () => {
    expect(await run("dev")).toEqual({ command: "dev", readOnlyPort: 10255, logLevel: 0 });
    const argv = ["dev", "./pods", "--root-dir=/r", "--node-name", "n", "--read-only-port=0", "--log-level", "4"];
    expect(await run(...argv)).toEqual({
      command: "dev",
      dir: "./pods",
      rootDir: "/r",
      nodeName: "n",
      readOnlyPort: 0,
      logLevel: 4,
    });
  });

  it("reads the options of runtime", async () => {
    expect(await run("runtime", "--socket", "/s.sock", "--state-dir=/s")).toEqual({
      command: "runtime",
      socket: "/s.sock",
      stateDir: "/s",
    });
  });

  it.each<[readonly string[], readonly string[]]>([
    [["deb"], ['unknown command "deb"; did you mean dev?']],
    [["serve"], ['unknown command "serve"; see rxlet --help']],
    [["--register-node", "false"], ['unexpected argument "false"; a switch takes its value as --switch=false']],
    [["-v", "4", "dev"], ['unexpected argument "dev"; the command dev must come before all flags']],
    [
      ["dev", "a", "b", "--max-pods=4"],
      ["--max-pods: unknown flag", 'unexpected argument "b"'],
    ],
    [["dev", "--read-only-port=70000"], ["--read-only-port: must be 0 (off) or a port between 1 and 65535, got 70000"]],
    [["runtime"], ["--socket: is required", "--state-dir: is required"]],
    [
      ["runtime", "--socket"],
      ["--socket: needs a value", "--state-dir: is required"],
    ],
    [
      ["runtime", "x", "--socket=", "--state-dir=/s"],
      ['unexpected argument "x"', "--socket: is required"],
    ],
    [
      ["--max-pods=-1", "extra"],
      ['unexpected argument "extra"', "--max-pods: must not be negative, got -1"],
    ],
  ])("refuses %j", async (argv, errors) => {
    expect(await run(...argv)).toEqual({ command: "error", errors });
  });
});

describe("help", () => {
  it("has every group once, in order, and the sub-commands", () => {
    const headings = [...helpText("kubelet").matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...FLAG_GROUPS, "Commands"]);
    expect(helpText("kubelet")).toMatch(/^ {2}dev \[DIR\] \[flags\] .*\n(.*\n)* {2}runtime \[flags\] /m);
  });

  it("says of each flag its default, the field that replaces it and whether it has an effect", () => {
    const help = helpText("kubelet")
      .replaceAll(/\n {20,}/g, " ")
      .replaceAll(/ {2,}/g, "  ");
    expect(help).toContain("--max-pods <number>  Pods that may run on this node (default 110; file: maxPods)\n");
    expect(help).toContain("--port <number>  Port of the HTTPS server (default 10250; file: port)\n");
    expect(help).toContain(
      "--fail-swap-on[=bool]  Refuse to start while swap is on (default true; file: failSwapOn)\n",
    );
    expect(help).toContain(
      "--root-dir <text>  Directory of the kubelet's own files and of volumes (default /var/lib/kubelet)\n",
    );
  });

  it("keeps its lines within 120 columns", () => {
    expect(
      helpText("kubelet")
        .split("\n")
        .filter((line) => line.length > 120),
    ).toEqual([]);
  });
});

describe("nodeConfigReaders", () => {
  it("lists files of subdirectories in place, by name", async () => {
    const root = await mkdtemp(join(tmpdir(), "rxlet-config-"));
    try {
      await mkdir(join(root, "15.d"));
      for (const name of ["20.conf", "10.conf", "15.d/b.conf", "15.d/a.conf", "B.conf"])
        await writeFile(join(root, name), name);
      const listed = await nodeConfigReaders.listFiles(root);
      expect(listed.map((path) => path.slice(root.length + 1))).toEqual([
        "10.conf",
        "15.d/a.conf",
        "15.d/b.conf",
        "20.conf",
        "B.conf",
      ]);
      expect(await nodeConfigReaders.readText(join(root, "15.d/a.conf"))).toBe("15.d/a.conf");
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
