/** A daemon on the embedded runtime, and the commands that use its local socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedRuntime, runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { type CommandRun, finished } from "./devNode.ts";

/** The image of the embedded runtime that is the machine itself. */
export const HOST = { image: "rxlet.dev/host" };

/** A user that a command runs as. */
export interface CommandUser {
  readonly uid: number;
  readonly groups?: readonly number[];
}

export interface LocalNode {
  readonly daemon: Daemon;
  readonly runtime: EmbeddedRuntime;
  readonly folder: string;
  readonly socket: string;
  /** Starts `rxlet ARGS` with the socket. */
  spawn(args: readonly string[], user?: CommandUser): ChildProcess;
  /** Runs `rxlet ARGS` to its end. */
  run(args: readonly string[], input?: string, user?: CommandUser): Promise<CommandRun>;
  close(): Promise<void>;
}

/** Starts the node. `group` may use the socket. */
export async function startLocalNode(group?: number, args: readonly string[] = []): Promise<LocalNode> {
  const folder = await mkdtemp(join(tmpdir(), "rxlet-local-"));
  // Other users reach the socket, and nothing else.
  await chmod(folder, 0o711);
  const socket = join(folder, "run", "local.sock");
  const socketPath = join(folder, "runtime.sock");
  const runtime = await runEmbeddedRuntime({ socketPath, stateDir: join(folder, "runtime") });
  const daemon = await startDaemon({
    folder,
    endpoint: `unix://${socketPath}`,
    args: [`--local-socket=${socket}`, ...(group === undefined ? [] : [`--local-socket-group=${group}`]), ...args],
  });
  const started = ([command = "", ...rest]: readonly string[], user?: CommandUser): ChildProcess => {
    const words = [process.execPath, BUILT_MAIN, command, `--socket=${socket}`, ...rest];
    const env = { ...process.env, TMPDIR: folder, XDG_RUNTIME_DIR: folder, KUBECONFIG: "", NODE_COMPILE_CACHE: "" };
    const [program = "", ...all] = user === undefined ? words : [...asUser(user), ...words];
    return spawn(program, all, { stdio: ["pipe", "pipe", "pipe"], cwd: folder, env });
  };
  return {
    ...{ daemon, runtime, folder, socket, spawn: started },
    run: (words, input, user) => finished(started(words, user), input),
    close: async () => {
      await daemon.kill("SIGTERM");
      await runtime.close({ stopContainers: true, graceMs: 0 });
      await removeFolder(folder);
    },
  };
}

/** Words that run a command as another user. */
export const asUser = ({ uid, groups = [] }: CommandUser): readonly string[] => [
  "setpriv",
  `--reuid=${uid}`,
  `--regid=${uid}`,
  ...(groups.length === 0 ? ["--clear-groups"] : [`--groups=${groups.join(",")}`]),
  "--",
];
