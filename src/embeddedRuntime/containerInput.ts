/**
 * Standard input of containers that request it: a named pipe in the container's directory. With `stdinOnce` the runtime
 * holds the writing end from the start, and stdin ends when the first client disconnects or the runtime exits.
 * Otherwise the container itself holds the writing end, and stdin never ends.
 */
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import type { Writable } from "node:stream";
import type { LiveContainer } from "./registry.ts";
import type { Runtime } from "./runtime.ts";

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;

/** Name of the pipe in the container's directory. */
export const INPUT_PIPE = "stdin";

/** Standard input for the start of a container. */
export interface StartInput {
  /** Descriptor for the child process; the caller closes it. */
  readonly forChild: number;
  /** The writing end for a `stdinOnce` container. */
  readonly held: number | undefined;
}

/** Opens both ends of the pipe without blocking. */
export function openStartInput(containerDir: string, stdinOnce: boolean): StartInput {
  const pipe = path.join(containerDir, INPUT_PIPE);
  const both = fs.openSync(pipe, O_RDWR);
  if (!stdinOnce) return { forChild: both, held: undefined };
  try {
    const forChild = fs.openSync(pipe, O_RDONLY);
    return { forChild, held: fs.openSync(pipe, O_WRONLY | O_NONBLOCK) };
  } finally {
    fs.closeSync(both);
  }
}

/** Returns a writer for an attached client; undefined if the container has no stdin or it has ended. */
export function openInput({ files }: Runtime, live: LiveContainer): Writable | undefined {
  const { config, id } = live.record;
  if (!config.stdin) return undefined;
  let fd = live.heldInput;
  live.heldInput = undefined;
  if (!config.stdinOnce) fd = fs.openSync(path.join(files.containerDir(id), INPUT_PIPE), O_WRONLY | O_NONBLOCK);
  if (fd === undefined) return undefined;
  const writer = new net.Socket({ fd, readable: false, writable: true });
  writer.on("error", () => writer.destroy());
  return writer;
}

/** Closes the writing end if no client has taken it. */
export function closeInput(live: LiveContainer): void {
  if (live.heldInput !== undefined) fs.closeSync(live.heldInput);
  live.heldInput = undefined;
}
