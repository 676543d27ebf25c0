/** `rxlet dev` as a process of its own, and commands that find it as its user's would. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import type { Pod } from "../../src/core/api.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { kill } from "../support/kernelState.ts";
import { KUBECTL } from "../support/kubectl.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { waitFor } from "../support/waitFor.ts";

/** Output and exit code of a command. */
export interface CommandRun {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** The machine of a single user: several `rxlet dev` share its directories for temporary files. */
export interface DevUser {
  readonly folder: string;
  /** Environment that locates the user's directories. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Arguments of Node for the program. */
  readonly main: readonly string[];
  /** Starts `rxlet dev` on a new directory of this name, with further flags. */
  start(name: string, manifests: Readonly<Record<string, unknown>>, flags?: readonly string[]): Promise<DevNode>;
  /** Starts `rxlet ARGS`. */
  spawn(args: readonly string[], cwd?: string): ChildProcess;
  /** Runs `rxlet ARGS` to its end. */
  run(args: readonly string[], input?: string, cwd?: string): Promise<CommandRun>;
  /** Names left in the directories that `rxlet dev` may use. */
  leftovers(): Promise<readonly string[]>;
  /** Ends what still runs and removes everything. */
  close(): Promise<void>;
}

/** A running `rxlet dev`. */
export interface DevNode {
  readonly child: ChildProcess;
  readonly manifests: string;
  readonly kubeconfig: string;
  /** Output so far. */
  output(): string;
  put(name: string, manifest: unknown): Promise<void>;
  pods(): Promise<readonly Pod[]>;
  until(name: string, what: string, wanted: (pod: Pod) => boolean): Promise<Pod>;
  /** Runs `kubectl ARGS` to its end. */
  kubectl(args: readonly string[], input?: string): Promise<CommandRun>;
  spawnKubectl(args: readonly string[]): ChildProcess;
  /** Resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Makes the directories of a user. */
export async function createDevUser(): Promise<DevUser> {
  const folder = await mkdtemp(join(tmpdir(), "rxlet-e2e-dev-"));
  const [temporary, runtime] = [join(folder, "tmp"), join(folder, "run")];
  for (const directory of [temporary, runtime]) await mkdir(directory, { mode: 0o700 });
  const env = { ...process.env, TMPDIR: temporary, XDG_RUNTIME_DIR: runtime, KUBECONFIG: "" };
  const children = new Set<ChildProcess>();
  const started = (program: string, args: readonly string[], cwd: string, more = {}): ChildProcess => {
    const child = spawn(program, [...args], { cwd, stdio: ["pipe", "pipe", "pipe"], env: { ...env, ...more } });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  const rxlet = (args: readonly string[], cwd = folder) => started(process.execPath, [BUILT_MAIN, ...args], cwd);
  return {
    folder,
    env,
    main: [BUILT_MAIN],
    start: async (name, manifests, flags = []) => {
      const directory = join(folder, name);
      await mkdir(directory, { recursive: true });
      const put = (file: string, manifest: unknown): Promise<void> =>
        writeFile(join(directory, file), typeof manifest === "string" ? manifest : JSON.stringify(manifest));
      for (const [file, manifest] of Object.entries(manifests)) await put(file, manifest);
      const child = rxlet(["dev", directory, "--node-name", "laptop", "--read-only-port", "0", ...flags]);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += String(text)));
      const kubeconfig = await waitFor("the banner of rxlet dev", () => {
        if (child.exitCode !== null) throw new Error(output);
        return /export KUBECONFIG=(\S+)\n/.exec(output)?.[1];
      });
      const spawnKubectl = (args: readonly string[]): ChildProcess =>
        started(KUBECTL ?? "", [`--cache-dir=${folder}/kubectl`, ...args], folder, { KUBECONFIG: kubeconfig });
      const kubectl = (args: readonly string[], input?: string) => finished(spawnKubectl(args), input);
      const pods = async (): Promise<readonly Pod[]> =>
        (JSON.parse(await asked(kubeconfig, "/pods")) as { readonly items: readonly Pod[] }).items;
      return {
        child,
        manifests: directory,
        kubeconfig,
        output: () => output,
        put,
        pods,
        until: (pod, what, wanted) =>
          waitFor(`${pod} to be ${what}`, async () =>
            (await pods()).find((each) => each.metadata.name === `${pod}-laptop` && wanted(each)),
          ),
        kubectl,
        spawnKubectl,
        stop: async () => {
          if (child.exitCode !== null) return child.exitCode;
          const ended = once(child, "exit");
          child.kill("SIGINT");
          return ((await ended) as [number | null])[0];
        },
      };
    },
    spawn: rxlet,
    run: (args, input, cwd) => finished(rxlet(args, cwd), input),
    leftovers: async () => [...(await readdir(temporary)), ...(await readdir(runtime))],
    close: async () => {
      const ends = [...children].map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGTERM");
      await Promise.all(ends);
      for (const pid of await processesMentioning(folder)) kill(pid);
      await removeFolder(folder);
    },
  };
}

/** Returns the authenticated server's response to the client of this kubeconfig. */
async function asked(kubeconfig: string, path: string): Promise<string> {
  const directory = dirname(kubeconfig);
  const { server } = JSON.parse(await readFile(join(directory, "dev.json"), "utf8")) as { readonly server: string };
  const ca = await readFile(join(directory, "ca.crt"));
  const client = await readFile(join(directory, "client.pem"));
  const [answer] = (await once(
    get(`${server}${path}`, { ca, cert: client, key: client, agent: false }),
    "response",
  )) as [IncomingMessage];
  return text(answer);
}

/** Feeds a command and collects what it prints. */
export async function finished(child: ChildProcess, input = ""): Promise<CommandRun> {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the command has no pipes");
  stdin.on("error", () => {});
  stdin.end(input);
  const closed = once(child, "close") as Promise<[number | null]>;
  const [out, err, [code]] = await Promise.all([buffer(stdout), buffer(stderr), closed]);
  return { out: String(out), err: String(err), code: code ?? -1 };
}

/** Processes whose command line or environment names the directory. */
export async function processesMentioning(folder: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const [command, environment] = await Promise.all(
      ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
    );
    if (`${command}${environment}`.includes(folder)) found.push(Number(pid));
  }
  return found;
}
