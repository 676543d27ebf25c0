/**
 * Environment, command, working directory and stop signal of a container's process. Containers are processes of the
 * host, so mounts are not made: `RXLET_MOUNTS` lists the host paths of the mounts. A request for another user is
 * rejected, because it could give the container more power than intended; the rest of the security context is not
 * enforced.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type ContainerConfig, type PodSandboxConfig, Signal } from "../gen/cri.ts";
import { invalidArgument } from "../grpcServer/rpcFault.ts";

const TERMINATION_PATH_ANNOTATION = "io.kubernetes.container.terminationMessagePath";

/**
 * Returns the environment of a container. Adds, if missing: PATH and HOME of the runtime; HOSTNAME of the pod;
 * `TERMINATION_LOG`, the host path of the termination message file; `RXLET_MOUNTS`, a JSON object from container path
 * to host path. The last value of a repeated name wins.
 */
export function containerEnv(config: ContainerConfig, sandbox: PodSandboxConfig): ReadonlyMap<string, Uint8Array> {
  const env = new Map<string, Uint8Array>();
  const addMissing = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== "" && !env.has(name)) env.set(name, Buffer.from(value));
  };
  for (const { key, value } of config.envs) env.set(key, value);
  addMissing("PATH", process.env["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  addMissing("HOME", os.homedir());
  addMissing("HOSTNAME", sandbox.hostname);
  const mounts = Object.fromEntries(config.mounts.map((mount) => [mount.containerPath, mount.hostPath]));
  addMissing("TERMINATION_LOG", mounts[config.annotations[TERMINATION_PATH_ANNOTATION] ?? "/dev/termination-log"]);
  if (config.mounts.length > 0) addMissing("RXLET_MOUNTS", JSON.stringify(mounts));
  return env;
}

/** Validates a container config. Throws INVALID_ARGUMENT naming the field that no process can be started with. */
export function checkContainerConfig(config: ContainerConfig): void {
  if (config.metadata === undefined || config.metadata.name === "") {
    throw invalidArgument("config.metadata.name", "a name is required");
  }
  const command = [...config.command, ...config.args];
  if (command.length === 0 || command[0] === "") {
    throw invalidArgument(
      "config.command",
      `no command specified: container "${config.metadata.name}" needs command or args, ` +
        "as the image rxlet.dev/host has no entrypoint",
    );
  }
  if (command.some((word) => word.includes("\0"))) throw invalidArgument("config.command", "holds a NUL character");
  for (const { key, value } of config.envs) {
    if (key === "" || key.includes("=") || key.includes("\0")) {
      throw invalidArgument("config.envs", `"${key}" is no name of an environment variable`);
    }
    if (value.includes(0)) throw invalidArgument("config.envs", `the value of "${key}" holds a NUL character`);
  }
  if (config.workingDir !== "" && !path.isAbsolute(config.workingDir)) {
    throw invalidArgument("config.working_dir", `"${config.workingDir}" is not an absolute path`);
  }
  checkUser(config);
  stopSignal(config);
}

function checkUser(config: ContainerConfig): void {
  const context = config.linux?.securityContext;
  const { uid, username } = os.userInfo();
  const asked = context?.runAsUser?.value;
  // Running as a less privileged user instead of root is safe.
  if (asked !== undefined && asked !== 0n && asked !== BigInt(uid)) {
    throw invalidArgument(
      "config.linux.security_context.run_as_user",
      `user ${asked} was requested, but the embedded runtime runs everything as its own user ${uid}`,
    );
  }
  const name = context?.runAsUsername ?? "";
  if (name !== "" && name !== "root" && name !== username) {
    throw invalidArgument(
      "config.linux.security_context.run_as_username",
      `user "${name}" was requested, but the embedded runtime runs everything as its own user "${username}"`,
    );
  }
}

const SIGNAL_NAMES = new Map<number, string>(Object.entries(Signal).map(([name, number]) => [number, name]));
const SIGRTMIN = 34;
const SIGRTMAX = 64;

/** Returns the stop signal of a container. Throws INVALID_ARGUMENT if this machine does not have it. */
export function stopSignal(config: ContainerConfig): NodeJS.Signals | number {
  if (config.stopSignal === Signal.RUNTIME_DEFAULT) return "SIGTERM";
  const name = SIGNAL_NAMES.get(config.stopSignal) ?? String(config.stopSignal);
  const realTime = /^SIGRT(MIN|MAX)(?:(?:PLUS|MINUS)(\d+))?$/.exec(name);
  if (realTime !== null && process.platform === "linux") {
    const distance = Number(realTime[2] ?? 0);
    return realTime[1] === "MIN" ? SIGRTMIN + distance : SIGRTMAX - distance;
  }
  const plain = name === "SIGCLD" ? "SIGCHLD" : name;
  if (Object.hasOwn(os.constants.signals, plain)) return plain as NodeJS.Signals;
  throw invalidArgument("config.stop_signal", `this machine has no signal ${name}`);
}

/** Returns the absolute path of a container's command. Throws an Error with the reason if it cannot be found. */
export function findExecutable(command: string, workingDir: string, searchPath: string): string {
  const places = command.includes("/") ? [""] : searchPath.split(":");
  for (const place of places) {
    const file = path.resolve(workingDir, place, command);
    if (!isExecutable(file)) continue;
    // env(1), which starts the command, would parse such a path as an assignment.
    if (file.includes("=")) throw new Error(`exec: "${file}": a path with "=" cannot be started`);
    return file;
  }
  const where = command.includes("/") ? `in ${workingDir}` : "in $PATH";
  throw new Error(`exec: "${command}": executable file not found ${where}`);
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Throws unless the directory exists, because the runtime creates no directories on the host for a container. */
export function checkWorkingDir(dir: string): void {
  if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Error(`working directory "${dir}" does not exist on this host`);
  }
}
