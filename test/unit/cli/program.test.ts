import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_CONFIG_ENTRIES, nodeConfigReaders } from "../../../src/cli/configReaders.ts";
import { readConfigFiles } from "../../../src/cli/configFiles.ts";
import { FLAG_GROUPS } from "../../../src/cli/flagSpec.ts";
import { SUB_COMMANDS, subCommandOf } from "../../../src/cli/commandTable.ts";
import { commandHelp, kubeletFlagsHelp, rootHelp } from "../../../src/cli/helpText.ts";
import { runProgram } from "../../../src/cli/program.ts";
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

  it.each<[readonly string[], string]>([
    [["--help"], rootHelp()],
    [["-h"], rootHelp()],
    [["help"], rootHelp()],
    [["help", "--help"], rootHelp()],
    [["--max-pods=x", "--help"], rootHelp()],
    [["help", "kubelet-flags"], kubeletFlagsHelp()],
    ...SUB_COMMANDS.flatMap((command): readonly [readonly string[], string][] => [
      [[command.name, "--help"], commandHelp(command)],
      [["help", command.name], commandHelp(command)],
      [[command.name, "-h", "too", "many", "arguments"], commandHelp(command)],
    ]),
  ])("prints help for %j", async (argv, text) => {
    expect(await run(...argv)).toEqual({ command: "help", text });
  });

  it("reads the options of dev", async () => {
    expect(await run("dev")).toEqual({
      command: "dev",
      readOnlyPort: 10255,
      logLevel: 0,
      runtime: "embedded",
    });
    const argv = ["dev", "./pods", "--root-dir=/r", "--node-name", "n", "--read-only-port=0", "--log-level", "4"];
    const runtime = ["--runtime=docker", "--runtime-endpoint=unix:///d.sock"];
    expect(await run(...argv, ...runtime)).toEqual({
      command: "dev",
      dir: "./pods",
      rootDir: "/r",
      nodeName: "n",
      readOnlyPort: 0,
      logLevel: 4,
      runtime: "docker",
      runtimeEndpoint: "unix:///d.sock",
    });
  });

  it("reads the options of runtime", async () => {
    const read = { command: "runtime", socket: "/s.sock", stateDir: "/s", endWithStdin: false };
    expect(await run("runtime", "--socket", "/s.sock", "--state-dir=/s")).toEqual(read);
    expect(await run("runtime", "--socket", "/s.sock", "--state-dir=/s", "--end-with-stdin")).toEqual({
      ...read,
      endWithStdin: true,
    });
  });

  it("reads the options of dockershim", async () => {
    const defaults = {
      command: "dockershim",
      socket: "/s.sock",
      stateDir: "/var/lib/dockershim",
      dockerEndpoint: "unix:///var/run/docker.sock",
      networkPlugin: "",
      cniConfDir: "/etc/cni/net.d",
      cniBinDir: "/opt/cni/bin,/usr/lib/cni",
      cniCacheDir: "/var/lib/cni/cache",
      podInfraContainerImage: "registry.k8s.io/pause:3.10",
    };
    expect(await run("dockershim", "--socket=unix:///s.sock")).toEqual(defaults);
    const argv = ["--socket=/s.sock", "--docker-endpoint=unix:///d", "--network-plugin=cni", "--state-dir=/d"];
    expect(await run("dockershim", ...argv)).toEqual({
      ...defaults,
      dockerEndpoint: "unix:///d",
      networkPlugin: "cni",
      stateDir: "/d",
    });
  });

  it.each<[readonly string[], readonly string[]]>([
    [["deb"], ['unknown command "deb"; did you mean dev?']],
    [["version"], ['unknown command "version"; rxlet --version prints the version']],
    [["kubelet"], ['unknown command "kubelet"; rxlet without a command is the kubelet']],
    [
      ["serve"],
      [
        'unknown command "serve"; the commands are dev, explain, get, logs, exec, attach, port-forward, cp, apply, delete, volumes, pressure, resources, top, retry, template, simulate, runtime, dockershim',
      ],
    ],
    [["help", "explian"], ['unknown command "explian"; did you mean explain?']],
    [["help", "dev", "me"], ['unexpected argument "me"; usage: rxlet help [TOPIC]']],
    [["--register-node", "false"], ['unexpected argument "false"; a switch takes its value as --switch=false']],
    [["-v", "4", "dev"], ['unexpected argument "dev"; the command dev must come before all flags']],
    [
      ["dev", "a", "b", "--max-pods=4"],
      ["--max-pods: unknown flag; see rxlet dev --help", 'unexpected argument "b"; usage: rxlet dev [DIR] [flags]'],
    ],
    [["dev", "--nodename=n"], ["--nodename: unknown flag; did you mean --node-name?"]],
    [["--kubeconf=/k"], ["--kubeconf: unknown flag; did you mean --kubeconfig?"]],
    [["--zzz"], ["--zzz: unknown flag; see rxlet help kubelet-flags"]],
    [["dev", "--read-only-port=70000"], ["--read-only-port: must be 0 (off) or a port between 1 and 65535, got 70000"]],
    [["explain"], ["explain needs the name of a pod: rxlet explain POD"]],
    [["explain", "a", "b"], ['unexpected argument "b"; usage: rxlet explain POD [flags]']],
    [["volumes", "a", "b"], ['unexpected argument "b"; usage: rxlet volumes [POD] [flags]']],
    [["template"], ["template needs a manifest: rxlet template FILE"]],
    [["simulate", "a"], ['unexpected argument "a"; usage: rxlet simulate [flags]']],
    [["dev", "--runtime=rkt"], ['--runtime: must be embedded, docker or containerd, got "rkt"']],
    [["dev", "--runtime-endpoint=unix:///s"], ["--runtime-endpoint: needs --runtime=docker or --runtime=containerd"]],
    [
      ["dev", "--runtime=docker", "--runtime-endpoint=tcp://h:2375"],
      ['--runtime-endpoint: must be unix:// and an absolute path, got "tcp://h:2375"'],
    ],
    [["dockershim"], ["--socket: is required"]],
    [
      ["dockershim", "--state-dir=", "--socket"],
      ["--socket: needs a value: --socket <text>", "--state-dir: is required"],
    ],
    [
      ["dockershim", "--socket=/s", "--network-plugin=kubenet", "x"],
      [
        'unexpected argument "x"; usage: rxlet dockershim [flags]',
        '--network-plugin: must be cni, bridge or empty, got "kubenet"; kubenet left Kubernetes with the dockershim in 1.24',
      ],
    ],
    [["runtime"], ["--socket: is required", "--state-dir: is required"]],
    [
      ["runtime", "--socket"],
      ["--socket: needs a value: --socket <text>", "--state-dir: is required"],
    ],
    [
      ["runtime", "x", "--socket=", "--state-dir=/s"],
      ['unexpected argument "x"; usage: rxlet runtime [flags]', "--socket: is required"],
    ],
    [
      ["--max-pods=-1", "extra"],
      ['unexpected argument "extra"; the daemon takes flags only', "--max-pods: must not be negative, got -1"],
    ],
  ])("refuses %j", async (argv, errors) => {
    expect(await run(...argv)).toEqual({ command: "error", errors });
  });
});

describe("help", () => {
  it("lists the commands and the flags used most on one screen, and says where the rest is", () => {
    const lines = rootHelp().split("\n");
    expect(lines.length).toBeLessThan(50);
    for (const { name, about } of SUB_COMMANDS) {
      expect(lines.filter((line) => line.startsWith(`  ${name} `) && line.endsWith(`  ${about}`))).toHaveLength(1);
    }
    for (const name of ["config", "kubeconfig", "root-dir", "help"]) {
      expect(lines.filter((line) => line.includes(` --${name} `))).toHaveLength(1);
    }
    expect(rootHelp()).toMatch(/^rxlet help kubelet-flags lists all \d+ flags of the daemon, /m);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  it.each(SUB_COMMANDS.map((command) => [command.name, command] as const))(
    "of %s has its usage, what it does, its flags and an example that it accepts",
    async (name, command) => {
      const help = commandHelp(command);
      expect(help).toMatch(new RegExp(`^Usage: rxlet ${name} .*\\[flags\\]\n`));
      expect(help).toContain(`\n\n${command.about}.\n`);
      for (const flag of command.flags) expect(help).toContain(`--${flag.name}`);
      const own = command.examples.filter((example) => example.startsWith(`rxlet ${name}`));
      expect(own.length).toBeGreaterThan(0);
      for (const example of own) {
        expect(help).toContain(`\n  ${example}\n`);
        const argv = (example.split(/ [|>] /)[0] ?? "").split(" ").slice(1);
        expect((await run(...argv)).command).toBe(name);
      }
    },
  );

  it("has no unknown command", () => {
    expect([subCommandOf("deb"), subCommandOf(undefined)]).toEqual([undefined, undefined]);
  });

  it("has every group of the daemon's flags once, in order", () => {
    const headings = [...kubeletFlagsHelp().matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...FLAG_GROUPS]);
  });

  it("says of each flag its default, the field that replaces it and whether it has an effect", () => {
    const help = kubeletFlagsHelp()
      .replaceAll(/\n {20,}/g, " ")
      .replaceAll(/ {2,}/g, "  ");
    expect(help).toContain("--max-pods <number>  Pods that may run on this node (default 110; file: maxPods)\n");
    expect(help).toContain("--port <number>  Port of the HTTPS server (default 10250; file: port)\n");
    expect(help).toContain("--fail-swap-on[=bool]  Fail to start while swap is on (default true; file: failSwapOn)\n");
    expect(help).toContain(
      "--root-dir <text>  Directory of the kubelet's own files and of volumes (default /var/lib/kubelet)\n",
    );
  });

  it("keeps its lines within 120 columns", () => {
    expect(
      kubeletFlagsHelp()
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

  it("lists up to the limit of files and directories", async () => {
    const root = await mkdtemp(join(tmpdir(), "rxlet-config-"));
    try {
      await mkdir(join(root, "d"));
      for (let index = 1; index < MAX_CONFIG_ENTRIES; index += 1) await writeFile(join(root, "d", `${index}.conf`), "");
      expect((await nodeConfigReaders.listFiles(root)).length).toBe(MAX_CONFIG_ENTRIES - 1);
      await mkdir(join(root, "e"));
      const { errors } = await readConfigFiles({ config: "", configDir: root }, nodeConfigReaders);
      expect(errors).toEqual([
        `--config-dir: ${root} cannot be listed: it has more than ${MAX_CONFIG_ENTRIES} files and directories`,
      ]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
