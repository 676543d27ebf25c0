/** Runs a command in a container for another command of rxlet, with streams of its own. */
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import type { Pod } from "../core/api.ts";
import { type CommandEnd, commandEnd } from "../core/dev/commandEnd.ts";
import { kubeletError } from "../core/errors.ts";
import { firstValueFrom } from "rxjs";
import { openStreams } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { SpdyConnection } from "../streaming/spdyConnection.ts";
import type { SpdyStream } from "../streaming/spdyStream.ts";
import { EXEC_PROTOCOL, execUrl } from "./exec.ts";
import { refusalOf, type TargetServer, unanswered } from "./targetServer.ts";

/** The streams of the command. */
export interface CommandIo {
  /** Absent: the command has no input. */
  readonly input?: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

/** The container, and the server that reaches it. */
export interface CommandPlace {
  readonly server: TargetServer;
  readonly pod: Pod;
  readonly container: string;
}

/**
 * Resolves with the end of the command, after its outputs were taken. Rejects when the connection breaks off, when an
 * output fails, or when `signal` is aborted.
 */
export async function runInContainer(
  { server, pod, container }: CommandPlace,
  words: readonly string[],
  io: CommandIo,
  signal: AbortSignal,
): Promise<CommandEnd> {
  const joined = { stdin: io.input !== undefined, stderr: true, tty: false };
  const url = execUrl(server, "exec", pod, container, joined, words);
  const answer = await firstValueFrom(
    openStreams(url, EXEC_PROTOCOL, server.access, systemClock).pipe(unanswered(server)),
  );
  if ("status" in answer) throw refusalOf(server, answer.status, answer.text) ?? kubeletError("Unknown", answer.text);
  const close = (): void => answer.close();
  signal.addEventListener("abort", close);
  try {
    return await joinedTo(answer, io);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function joinedTo(connection: SpdyConnection, { input, output, errors }: CommandIo): Promise<CommandEnd> {
  const open = (name: string): Promise<SpdyStream> => connection.createStream([["streamType", name]]);
  const error = await open("error");
  const status = text(error);
  status.catch(() => {}); // awaited below, after the outputs
  error.end();
  const to = input === undefined ? undefined : await open("stdin");
  const [out, err] = [await open("stdout"), await open("stderr")];
  // A runtime may start only with all streams. The command may end before its input, which then fails; the status of the
  // command says why.
  const fed = input === undefined || to === undefined ? undefined : pipeline(input, to).catch(() => undefined);
  await Promise.all([pipeline(out, output), pipeline(err, errors)]);
  const end = commandEnd(await status);
  input?.destroy();
  await fed;
  return end;
}
