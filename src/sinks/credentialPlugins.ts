/**
 * The CredentialPlugins port on child processes. Bounds: 1 MiB of output; a process is killed when its Call is
 * cancelled.
 */
import { execFile } from "node:child_process";
import path from "node:path";
import { kubeletError } from "../core/errors.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { CredentialPlugins, PluginCommand } from "../ports/credentials.ts";
import { killOnAbort } from "./killOnAbort.ts";

const MAX_PRINTED_BYTES = 1024 * 1024;
/** Bound on the end of a plugin's stderr that an error quotes. */
const MAX_REPORTED = 500;

/** Creates the port for the plugins of a directory. */
export const createCredentialPlugins = (directory: string): CredentialPlugins => ({
  run: (plugin, request) => fromCall((signal) => run(path.join(directory, plugin.name), plugin, request, signal)),
});

function run(program: string, { args, env }: PluginCommand, request: string, signal: AbortSignal): Promise<string> {
  const options = {
    env: { ...process.env, ...env },
    maxBuffer: MAX_PRINTED_BYTES,
    encoding: "utf8",
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args], options, (error, printed, complaints) => {
      if (error === null) {
        resolve(printed);
        return;
      }
      const why = typeof error.code === "number" ? `exit status ${error.code}` : whyOf(error);
      const words = complaints.trim().slice(-MAX_REPORTED);
      reject(kubeletError("Io", words === "" ? why : `${why}: ${words}`));
    });
    killOnAbort(child, signal);
    // A plugin that reads no input may have exited before the request is written.
    child.stdin?.on("error", () => {});
    child.stdin?.end(request);
  });
}

/** Leaves out the output and arguments of the plugin: either may hold credentials. */
function whyOf({ code, signal }: { readonly code?: unknown; readonly signal?: unknown }): string {
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `it printed more than ${MAX_PRINTED_BYTES} bytes`;
  if (typeof signal === "string") return `signal: ${signal}`;
  return `it cannot be run: ${String(code)}`;
}
