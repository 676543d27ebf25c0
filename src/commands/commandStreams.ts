/** Connects the standard streams of this process to those of a command in a container. */
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type CommandEnd, commandEnd } from "../core/dev/commandEnd.ts";
import type { SpdyConnection } from "../streaming/spdyConnection.ts";
import type { SpdyStream } from "../streaming/spdyStream.ts";

/** Standard streams of this process; tests pass others. */
export interface Standard {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The streams to connect. */
export interface Joined {
  readonly stdin: boolean;
  readonly stderr: boolean;
  /** Whether the command has a terminal; this process's terminal is then in raw mode. */
  readonly tty: boolean;
}

/** Returns whether to use a terminal; the notice explains why a requested one is not used. */
export function terminalOf(wanted: boolean, { stdin }: Standard): { readonly tty: boolean; readonly notice?: string } {
  if (!wanted || stdin.isTTY === true) return { tty: wanted };
  return { tty: false, notice: "Unable to use a TTY - input is not a terminal or the right kind of file" };
}

/** Resolves with the end of the command. Rejects when the connection breaks off. */
export async function joinStreams(connection: SpdyConnection, joined: Joined, standard: Standard): Promise<CommandEnd> {
  const open = (name: string): Promise<SpdyStream> => connection.createStream([["streamType", name]]);
  const error = await open("error");
  const status = text(error);
  status.catch(() => {}); // awaited below, after the outputs
  error.end();
  const restore = joined.tty ? await joinTerminal(await open("resize"), standard) : () => {};
  try {
    if (joined.stdin) feed(standard.stdin, await open("stdin"));
    const outputs = [["stdout", standard.stdout] as const, ["stderr", standard.stderr] as const];
    const wanted = outputs.filter(([name]) => name === "stdout" || joined.stderr);
    const streams = await Promise.all(wanted.map(async ([name, to]) => [await open(name), to] as const));
    await Promise.all(streams.map(([from, to]) => pipeline(from, to, { end: false })));
    return commandEnd(await status);
  } finally {
    restore();
    standard.stdin.pause();
  }
}

/** Sends standard input. The command may end before its input; the rest is dropped. */
function feed(from: NodeJS.ReadStream, to: SpdyStream): void {
  to.once("close", () => {
    from.unpipe(to);
    from.resume();
  });
  from.pipe(to);
}

/** Sends every key, and the size of the terminal now and after each change. Returns a function that undoes this. */
async function joinTerminal(resize: SpdyStream, { stdin, stdout }: Standard): Promise<() => void> {
  const terminal = stdin;
  const screen = stdout;
  const emitSize = (): void => {
    if (screen.columns > 0) resize.write(`${JSON.stringify({ Width: screen.columns, Height: screen.rows })}\n`);
  };
  emitSize();
  screen.on("resize", emitSize);
  terminal.setRawMode(true);
  return () => {
    screen.off("resize", emitSize);
    terminal.setRawMode(false);
  };
}
