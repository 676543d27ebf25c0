/** The npm package as a user gets it: packed, installed into a directory of its own, and run from there. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { isAlive, kill } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { freePort } from "../support/ports.ts";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** Packing compiles everything, installing unpacks all dependencies. */
const INSTALL_MS = 600_000;

const textOf = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");
const manifest = JSON.parse(textOf("package.json")) as { readonly version: string };

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

describe("the npm package", () => {
  let folder: string;
  let packed: Packed;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-package-"));
    const pack = ["pack", "--json", "--silent", "--pack-destination", folder];
    const { stdout } = await run("npm", pack, { cwd: REPOSITORY }).catch((thrown: { readonly stdout?: string }) => {
      throw new Error(`npm pack failed: ${thrown.stdout}`, { cause: thrown });
    });
    packed = (JSON.parse(stdout) as readonly [Packed])[0];
    const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", "--prefix", folder, ...options, join(folder, packed.filename)], { cwd: folder });
  }, INSTALL_MS);

  afterAll(() => removeFolder(folder));

  /** The command as npm links it, run by this Node. */
  const command = (): string => join(folder, "node_modules", ".bin", "rxlet");
  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    TMPDIR: join(folder, "tmp"),
  });

  it("holds the compiled program, the examples and the documents, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    expect([...new Set(paths.map((path) => path.split("/")[0]))].sort()).toEqual([
      "LICENSE",
      "README.md",
      "bin",
      "dist",
      "docs",
      "examples",
      "package.json",
      "packaging",
    ]);
    expect(paths.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts)$/.test(path))).toEqual([
      "dist/LICENSES.txt",
      "dist/live/index.html",
      "dist/live/page.css",
    ]);
  });

  it("holds code with the names of functions, short local names, no spaces, and one byte per character", () => {
    const main = join(folder, "node_modules", "rxlet", "dist");
    const chunks = readdirSync(join(main, "chunks")).filter((name) => name.endsWith(".js"));
    const code = chunks.map((name) => readFileSync(join(main, "chunks", name), "utf8"));
    expect(chunks.filter((_, index) => /[^\0-\xff]/.test(code[index] ?? ""))).toEqual([]);
    expect(code.filter((text) => /function createKubelet\(\w{1,2},\w{1,2}\)\{/.test(text))).toHaveLength(1);
  });

  it("imports no module of Node that loads the sockets of browsers", () => {
    const folders = ["dist", "dist/chunks"].map((name) => join(folder, "node_modules", "rxlet", name));
    const code = folders.flatMap((dir) =>
      readdirSync(dir)
        .filter((name) => name.endsWith(".js"))
        .map((name) => readFileSync(join(dir, name), "utf8")),
    );
    expect(code.filter((text) => /from ?"(node:)?http"/.test(text))).toEqual([]);
  });

  it("tells its version", async () => {
    expect(await run(command(), ["--version"], { env: environment() })).toEqual({
      stdout: `Kubernetes v1.36.2+rxlet-${manifest.version}\n`,
      stderr: "",
    });
  });

  it("tells its flags and commands", async () => {
    const { stdout } = await run(command(), ["--help"], { env: environment() });
    expect(stdout).toMatch(/^Usage: rxlet .*^ {2}dev .*^ {2}runtime .*^ {2}--config /ms);
  });

  it("exports scenarios, with types, to a project that installs it", async () => {
    const script = join(folder, "scenario.ts");
    await writeFile(script, textOf("test/sim/scenarios/nodeReboot.ts"));
    const { stdout } = await run(process.execPath, [script], { cwd: folder });
    expect(textOf("docs/simulation.md")).toContain(`\`\`\`\n${stdout}\`\`\``);
    const compiler = join(REPOSITORY, "node_modules", "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
    await writeFile(script, 'import { at } from "rxlet/sim";\nat("1s").kill(7);\n');
    await expect(run(process.execPath, [compiler, ...options, script], { cwd: folder })).rejects.toMatchObject({
      stdout: expect.stringContaining("Argument of type 'number' is not assignable to parameter of type 'string'"),
    });
  });

  it("simulates a fleet on threads", async () => {
    const args = ["simulate", "--nodes=2", "--threads=2", "--pods=1", "--duration=1m", "--seed=1"];
    const { stdout } = await run(command(), args, { env: environment() });
    expect(stdout).toMatch(/^outcome {6}ok$/m);
  });

  it("says so when Node is too old, and does not start", async () => {
    const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.0" } })`;
    const args = ["--import", `data:text/javascript,${encodeURIComponent(old)}`, command(), "--version"];
    await expect(run(process.execPath, args)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: "rxlet: needs Node 24 or later, this is 20.9.0\n",
    });
  });

  it("runs the examples, and leaves neither a process nor a file behind on SIGINT", async () => {
    await mkdir(join(folder, "tmp"));
    const port = await freePort();
    const child = spawn(command(), ["dev", "--node-name=laptop", `--read-only-port=${port}`], {
      cwd: folder,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = collectOutput(child);
    let started: readonly number[] = [];
    onTestFinished(() => [child.pid ?? 0, ...started].filter((pid) => pid > 0 && isAlive(pid)).forEach(kill));

    const ip = await waitFor("the web pod to run", () => podIp(port, "web-laptop")).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${said()}`);
    });
    const answer = await waitFor("the web server to listen", () => fetch(`http://${ip}:8080/x`));
    expect(await answer.text()).toBe("hello from web-laptop, you asked for /x\n");

    started = descendantsOf(child.pid ?? 0);
    if (process.platform === "linux") expect(started.length).toBeGreaterThan(0);
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect({ ended: await ended, said: said().split("Stopping pods...").length }).toEqual({
      ended: [0, null],
      said: 2,
    });
    expect(started.filter(isAlive)).toEqual([]);
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
  });
});

/** Collects the output of a process. */
function collectOutput(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/** The address of a pod once it runs. */
async function podIp(port: number, name: string): Promise<string | undefined> {
  const { items } = (await (await fetch(`http://127.0.0.1:${port}/pods`)).json()) as { readonly items: readonly Pod[] };
  const status = items.find(({ metadata }) => metadata.name === name)?.status;
  return status?.phase === "Running" ? status.podIP : undefined;
}

/** All processes below one; on Linux alone. */
function descendantsOf(pid: number): readonly number[] {
  if (process.platform !== "linux") return [];
  const children = new Map<number, number[]>();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(id);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(id)]);
  }
  const below = (parent: number): readonly number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

/** The fourth field of `stat`, after the program's name, which may hold anything. */
function parentOf(id: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
