/** A datagram socket that receives the messages of a service, in the place of systemd: a C program, since Node.js has none. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findProgram } from "./findProgram.ts";
import { waitFor } from "./waitFor.ts";

const SOURCE = fileURLToPath(new URL("notifySocket.c", import.meta.url));

/** A received message. */
export interface ReceivedMessage {
  /** The process that the kernel names as its sender. */
  readonly pid: number;
  readonly assignments: readonly string[];
}

/** A socket that is open until `close`. */
export interface NotifySocket {
  /** All messages so far. */
  messages(): readonly ReceivedMessage[];
  close(): Promise<void>;
}

/** Lists the programs that this machine lacks. */
export const missingForNotifySocket = (): readonly string[] =>
  ["gcc", "systemd-notify"].filter((program) => findProgram(program) === undefined);

const execute = promisify(execFile);

/** Opens the socket at a path, or at `@` and the name of an abstract socket. Compiles its program into the directory. */
export async function openNotifySocket(dir: string, socket: string): Promise<NotifySocket> {
  const program = join(dir, "notifySocket");
  await execute("gcc", ["-O", "-Wall", "-Werror", "-o", program, SOURCE]);
  const child = spawn(program, [socket], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const lines = (): readonly string[] => output.split("\n").slice(0, -1);
  await waitFor("the socket", () => {
    if (child.exitCode !== null) throw new Error(`notifySocket ended with ${child.exitCode}`);
    return lines().length > 0;
  });
  return {
    messages: () =>
      lines()
        .slice(1)
        .map((line) => {
          const [pid = "", ...words] = line.split(" ");
          return { pid: Number(pid), assignments: words.join(" ").split("|") };
        }),
    async close() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
