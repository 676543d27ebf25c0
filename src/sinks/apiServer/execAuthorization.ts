/**
 * Credentials of an exec plugin, which runs when there are none, when they have expired, and after the server
 * rejected them. Owns the current credentials. Bound: one run at a time, shared by all requests, of at most RUN_MS.
 * Upstream: client-go's exec plugin.
 */
import { execFile, type ExecFileException } from "node:child_process";
import { defer, finalize, map, type Observable, of, share } from "rxjs";
import type { ExecPlugin, TlsIdentity } from "../../core/api/clientConfig.ts";
import { type ExecCredential, execInfo, readExecCredential } from "../../core/api/execCredential.ts";
import { kubeletError } from "../../core/errors.ts";
import { errnoOf } from "../../core/ioError.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiAuthorization } from "./createApiServer.ts";
import { killOnAbort } from "../killOnAbort.ts";

export interface AuthorizationOptions {
  readonly clock: Clock;
  /** Called with a client certificate from the plugin; new connections use it. */
  onIdentity(identity: TlsIdentity): void;
  /** Called after each run of the plugin. */
  onRun?(end: PluginEnd): void;
}

/** How a run of a plugin ended, in client-go's words; `code` is 1 for a plugin that did not run to its end. */
export interface PluginEnd {
  readonly status: "no_error" | "plugin_execution_error" | "plugin_not_found_error" | "client_internal_error";
  readonly code: number;
}

const RUN_MS = 60_000;
const MAX_PRINTED_BYTES = 1024 * 1024;
/** Bound on the end of the plugin's stderr that an error quotes. */
const MAX_REPORTED = 500;

/** Creates the credentials of a plugin, which first runs for the first request. */
export function execAuthorization(plugin: ExecPlugin, options: AuthorizationOptions): ApiAuthorization {
  const { clock, onIdentity } = options;
  let last: ExecCredential | undefined;
  let running: Observable<ExecCredential> | undefined;
  const run = (): Observable<ExecCredential> => {
    running ??= fromCall((signal) => printedBy(plugin, signal, (end) => options.onRun?.(end))).pipe(
      deadline(RUN_MS, clock, () =>
        kubeletError("DeadlineExceeded", `exec plugin ${plugin.command}: no credentials within ${RUN_MS / 1000} s`),
      ),
      map((printed) => {
        const read = readExecCredential(plugin, printed);
        if (!read.ok) throw read.error;
        last = read.value;
        if (last.identity !== undefined) onIdentity(last.identity);
        return last;
      }),
      finalize(() => {
        running = undefined;
      }),
      share(),
    );
    return running;
  };
  const isOver = ({ expiresAt }: ExecCredential): boolean => expiresAt !== undefined && expiresAt <= clock.wallTime();
  return {
    headers: () =>
      defer(() => (last === undefined || isOver(last) ? run() : of(last))).pipe(
        map(
          ({ token }): Readonly<Record<string, string>> =>
            token === undefined ? {} : { authorization: `Bearer ${token}` },
        ),
      ),
    rejected() {
      last = undefined;
    },
  };
}

function endOf(error: ExecFileException | null): PluginEnd {
  if (error === null) return { status: "no_error", code: 0 };
  if (typeof error.code === "number") return { status: "plugin_execution_error", code: error.code };
  const isMissing = ["ENOENT", "EACCES"].includes(errnoOf(error));
  return { status: isMissing ? "plugin_not_found_error" : "client_internal_error", code: 1 };
}

/** Leaves out Node's message: it repeats the arguments of a killed plugin, which may be secrets. */
const exitText = ({ code, signal }: ExecFileException): string => {
  if (typeof code === "number") return `it ended with code ${code}`;
  return signal ? `it was ended by ${signal}` : `it could not be run: ${code ?? "unknown error"}`;
};

/** Returns the output of the plugin. Rejects with its failure as a sentence. */
function printedBy(plugin: ExecPlugin, signal: AbortSignal, onRun: (end: PluginEnd) => void): Promise<string> {
  const { command, args, env, installHint } = plugin;
  const options = {
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: execInfo(plugin) },
    maxBuffer: MAX_PRINTED_BYTES,
    encoding: "utf8",
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], options, (error, printed, complaints) => {
      onRun(endOf(error));
      if (error === null) {
        resolve(printed);
        return;
      }
      const hint = errnoOf(error) === "ENOENT" && installHint !== "" ? `\n${installHint}` : "";
      const words = complaints.trim().slice(-MAX_REPORTED);
      const why = exitText(error);
      const text = `exec plugin ${command}: ${why}${words === "" ? "" : `: ${words}`}${hint}`;
      reject(kubeletError("PermissionDenied", text));
    });
    killOnAbort(child, signal);
    // Close stdin: no user is present to answer prompts.
    child.stdin?.end();
  });
}
