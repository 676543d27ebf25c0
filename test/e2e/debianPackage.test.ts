/** The Debian package as a user gets it: built, installed by dpkg, used, upgraded and removed. */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { SUB_COMMANDS } from "../../src/cli/commandTable.ts";
import { KUBELET_FLAGS } from "../../src/cli/flags.ts";
import { rootHelp } from "../../src/cli/helpText.ts";
import { findProgram } from "../support/findProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { freePort } from "../support/ports.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { missingForRoot, openThrowawayRoot, type ThrowawayRoot } from "../support/throwawayRoot.ts";
import { waitFor } from "../support/waitFor.ts";

const execute = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("../../scripts/debian/buildDebianPackage.ts", import.meta.url));
const BUILD_MS = 600_000;
const CONFIG = "/etc/rxlet/config.yaml";
const PROGRAMS = ["dpkg", "dpkg-deb", "man", "bash", "script", "systemd-analyze"];
const TITLE = "the Debian package";
const MISSING = [...missingForRoot(), ...PROGRAMS.filter((program) => findProgram(program) === undefined)];

/** Builds in a directory of its own, with a umask that packages must not show. */
async function built(folder: string, name: string, mask: string): Promise<string> {
  const output = join(folder, name);
  await mkdir(output);
  const build = `umask ${mask}; exec "$0" "$1" --compression=none --output="$2"`;
  const { stdout } = await execute("sh", ["-c", build, process.execPath, SCRIPT, output]);
  return stdout.trim();
}

async function digest(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  let folder = "";
  let deb = "";
  let opened: ThrowawayRoot | undefined;
  const root = (): ThrowawayRoot => {
    if (opened === undefined) throw new Error("the root is not open");
    return opened;
  };
  const run = (program: string, ...args: readonly string[]) => root().run(program, ...args);
  const output = async (program: string, ...args: readonly string[]): Promise<string> =>
    (await run(program, ...args)).stdout;
  /** Paths of these that exist in the root. */
  const existing = async (...paths: readonly string[]): Promise<readonly string[]> => {
    const test = 'for each; do ! [ -e "$each" ] || echo "$each"; done';
    return (await output("sh", "-c", test, "sh", ...paths)).split("\n").filter((path) => path !== "");
  };
  const enabled = async (): Promise<string> =>
    (await output("sh", "-c", "systemctl is-enabled rxlet.service || true")).trim();
  // Images of containers often exclude documents from all packages.
  const options = ["--no-triggers", "--force-confold", "--path-include=/usr/share/*"];
  const install = () => run("dpkg", ...options, "--install", "/tmp/rxlet.deb");

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-deb-"));
    deb = await built(folder, "first", "022");
    opened = await openThrowawayRoot();
    await root().put(deb, "/tmp/rxlet.deb");
    await install();
  }, BUILD_MS);
  afterAll(async () => {
    await opened?.close();
    await removeFolder(folder);
  });

  it(
    "has the same bytes when it is built again",
    async () => {
      expect(await digest(await built(folder, "second", "077"))).toBe(await digest(deb));
    },
    BUILD_MS,
  );

  it("installs all files as they are in the package", async () => {
    expect(await output("dpkg-query", "-W", "-f=${db:Status-Status} ${Version}", "rxlet")).toBe("installed 0.1.0");
    expect(await run("dpkg", "--verify", "rxlet")).toEqual({ stdout: "", stderr: "" });
    expect(await output("dpkg-query", "-W", "-f=${Conffiles}", "rxlet")).toMatch(/^(?: \/etc\/\S+ \w+\n?)+$/m);
  });

  it("has units without faults, which the installation neither enables nor starts", async () => {
    const units = ["rxlet.service", "rxlet.socket"].map((name) => `/usr/lib/systemd/system/${name}`);
    const verified = await run("systemd-analyze", "verify", ...units);
    expect(`${verified.stdout}${verified.stderr}`).not.toMatch(/rxlet/);
    expect(await enabled()).toBe("disabled");
    await install();
    expect(await enabled()).toBe("disabled");
  });

  it("tells its version and its help, by its own Node", async () => {
    expect(await output("rxlet", "--version")).toMatch(/^Kubernetes v1\.36\.\d+\+rxlet-0\.1\.0\n$/);
    expect(await output("rxlet", "--help")).toBe(rootHelp());
    expect(await output("/usr/lib/rxlet/bin/node", "--version")).toBe(`${process.version}\n`);
  });

  it("has a man page without warnings, with all commands and flags", async () => {
    const page = "/usr/share/man/man8/rxlet.8.gz";
    const { stdout, stderr } = await run("env", "MANWIDTH=120", "man", "--warnings", "-l", page);
    expect(stderr).toBe("");
    const tags = [
      ...SUB_COMMANDS.map(({ name, args }) => `rxlet ${name} ${args}`.trim()),
      ...[...KUBELET_FLAGS, ...SUB_COMMANDS.flatMap(({ flags }) => flags)].map(({ name }) => `--${name}`),
    ];
    const lines = new Set(
      stdout.split("\n").map((line) =>
        line
          .trim()
          .replace(/^-\w, /, "")
          .replace(/[=[].*$/, ""),
      ),
    );
    const whole = new Set(stdout.split("\n").map((line) => line.trim()));
    expect(tags.filter((tag) => !lines.has(tag) && !whole.has(tag))).toEqual([]);
  });

  it("completes commands, flags, topics and files in bash", async () => {
    const setup = [
      "PS1='> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'",
      "source /usr/share/bash-completion/completions/rxlet",
      'rxlet() { echo "got:$*:"; }',
    ];
    const typed = [
      ...[
        "rxlet expl\t",
        "rxlet explain --insec\t",
        "rxlet --cloud-metadata-u\tx",
        "rxlet help kub\t",
        "rxlet get po\t",
      ],
      ...["rxlet --config=/etc/rxlet/con\t", "rxlet template /etc/rxlet/con\t", "rxlet dev /etc/rxl\t"],
    ];
    const bash = spawn(
      "nsenter",
      [...root().enter, "TERM=dumb", "script", "-qfc", "bash --norc --noprofile -i", "/dev/null"],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    let said = "";
    bash.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const ended = once(bash, "exit");
    bash.stdin.write([...setup, ...typed, "exit", ""].join("\n"));
    await waitFor("all lines to be read", () => said.split("got:").length > typed.length + 1);
    bash.stdin.end();
    await ended;
    expect([...said.matchAll(/^got:(.*):\r$/gm)].map(([, line = ""]) => line.trim())).toEqual([
      "explain",
      "explain --insecure-skip-tls-verify",
      "--cloud-metadata-url=x",
      "help kubelet-flags",
      "get pods",
      `--config=${CONFIG}`,
      `template ${CONFIG}`,
      "dev /etc/rxlet/",
    ]);
  });

  it("runs pods by its own Node, and ends with them on SIGINT", async () => {
    const port = await freePort();
    const args = ["rxlet", "dev", "--node-name=boxed", `--read-only-port=${port}`];
    const node = spawn("nsenter", [...root().enter, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void node.kill("SIGKILL"));
    let said = "";
    for (const stream of [node.stdout, node.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const running = async (): Promise<Pod | undefined> => {
      const { items } = (await (await fetch(`http://127.0.0.1:${port}/pods`)).json()) as { readonly items: Pod[] };
      return items.find(({ metadata, status }) => metadata.name === "web-boxed" && status?.phase === "Running");
    };
    await waitFor("the web pod to run", running, 150_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${said}`);
    });
    // Each program on the way replaces itself by the next one.
    expect(await readlink(`/proc/${node.pid}/exe`)).toMatch(/\/usr\/lib\/rxlet\/bin\/node$/);
    const ended = once(node, "exit");
    node.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  });

  it("keeps changes of an administrator over upgrade and removal; a purge leaves the state of pods alone", async () => {
    await run("systemctl", "enable", "rxlet.service");
    await run("sh", "-c", `echo "# mine" >> ${CONFIG}; mkdir -p /var/lib/kubelet; echo here > /var/lib/kubelet/state`);
    await install();
    const kept = [await output("tail", "-n", "1", CONFIG), await enabled()];
    await run("dpkg", "--no-triggers", "--remove", "rxlet");
    const ours = ["/usr/bin/rxlet", "/usr/lib/rxlet", "/usr/share/doc/rxlet", "/etc/default/rxlet", CONFIG];
    const removed = await existing(...ours);
    await run("dpkg", "--no-triggers", "--purge", "rxlet");
    const state = await output("sh", "-c", "find /var/lib/systemd /etc/systemd -name '*rxlet*'");
    expect([kept, removed, await existing(...ours, "/etc/rxlet", "/var/lib/kubelet/state"), state]).toEqual([
      ["# mine\n", "enabled"],
      ["/etc/default/rxlet", CONFIG],
      ["/var/lib/kubelet/state"],
      "",
    ]);
    await install();
  });
});
