/** Runs a command on a plugin of a network; errors name plugin, network and command. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { type ErrorCode, kubeletError, type KubeletError } from "../core/errors.ts";
import { type FailedPlugin, pluginFailure } from "../core/cni/pluginAnswer.ts";
import { type PluginCall, pluginEnvironment } from "../core/cni/sandboxArgs.ts";
import { err, ok } from "../core/result.ts";
import { runPlugin } from "./pluginProcess.ts";

/** Directories and times of plugins. */
export interface PluginPlace {
  /** Directories of programs; the first that has one wins. */
  readonly binDirs: readonly string[];
  /** Time for all plugins of one ADD, DEL or CHECK. */
  readonly deadlineMs: number;
  /** Time for one plugin that is asked about itself: VERSION, STATUS. */
  readonly askMs: number;
  /** Pause before another start of a program that is being written. */
  readonly busyPauseMs: number;
  /** Aborts when rxlet stops. */
  readonly closing: AbortSignal;
}

/** A time limit, with the words for messages. */
export interface Limit {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** Starts a time limit. It also ends when rxlet stops. */
export const limitOf = (ms: number, { closing }: PluginPlace): Limit => ({
  signal: AbortSignal.any([AbortSignal.timeout(ms), closing]),
  ms,
});

/** A command to one plugin of a network. */
export interface PluginTask {
  readonly network: string;
  readonly type: string;
  readonly call: PluginCall;
  /** Standard input. */
  readonly input: string;
}

/** Standard output of a plugin that succeeded; `failed` is the end of a plugin that reported a failure. */
export type PluginAnswer =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly error: KubeletError; readonly failed?: FailedPlugin };

/** Returns a failure that names plugin, network and command. */
export const pluginFault = ({ network, type, call }: PluginTask, code: ErrorCode, why: string): KubeletError =>
  kubeletError(code, `plugin ${JSON.stringify(type)} of network ${JSON.stringify(network)}: ${call.command}: ${why}`);

/** Runs the command. Errors: the report of the plugin, or how it failed. */
export async function callPlugin(task: PluginTask, place: PluginPlace, limit: Limit): Promise<PluginAnswer> {
  const fail = (code: ErrorCode, why: string) => err(pluginFault(task, code, why));
  const program = await findPlugin(task.type, place.binDirs);
  if (program === undefined) return fail("NotFound", `there is no such program in ${place.binDirs.join(", ")}`);
  const end = await runPlugin({
    program,
    environment: pluginEnvironment(task.call, place.binDirs),
    input: task.input,
    signal: limit.signal,
    busyPauseMs: place.busyPauseMs,
  });
  switch (end.kind) {
    case "succeeded":
      return ok(end.stdout);
    case "failed": {
      const { code, message } = pluginFailure(end);
      return { ok: false, error: pluginFault(task, code, message), failed: end };
    }
    case "flooded":
      return fail("Io", `it printed more than ${end.maxBytes} bytes and was killed`);
    case "stopped":
      return place.closing.aborted
        ? fail("Cancelled", "it was killed because rxlet stops")
        : fail("DeadlineExceeded", `it did not end within ${limit.ms} ms and was killed`);
    case "unstartable":
      return fail("Io", `${program} cannot be started: ${end.errno}`);
  }
}

/** Returns the path of the program; undefined where no directory has it. */
async function findPlugin(type: string, binDirs: readonly string[]): Promise<string | undefined> {
  for (const directory of binDirs) {
    const path = join(directory, type);
    const stats = await fs.stat(path).catch(() => undefined);
    if (stats?.isFile() === true) return path;
  }
  return undefined;
}
