/**
 * Standard input of containers that ask for one: a named pipe in the container's directory. With `stdinOnce` the runtime
 * holds its writing end from the start, and the first client's end is the end of the input (the runtime's own end too).
 * Otherwise the container holds it itself, and the input never ends.
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

/** What a container is started with. */
export interface StartInput {
  /** Descriptor for the child; the caller closes it. */
  readonly forChild: number;
  /** The writing end of a `stdinOnce` container. */
  readonly held: number | undefined;
}

/** Opens both ends of the pipe, waiting for nobody. */
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

/** A writer for a client that attaches; undefined when the container takes no input, or no more. */
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

/** Lets the writing end go, if nobody took it. */
export function closeInput(live: LiveContainer): void {
  if (live.heldInput !== undefined) fs.closeSync(live.heldInput);
  live.heldInput = undefined;
}
