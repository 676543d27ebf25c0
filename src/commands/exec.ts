/** `rxlet exec POD -- COMMAND` and `rxlet attach POD`: connect this process's streams to a process in a container. */
import { type Observable, switchMap } from "rxjs";
import type { AttachOptions, ExecOptions } from "../cli/podCommandFlags.ts";
import type { Pod } from "../core/api.ts";
import { type ChosenContainer, chosenContainer } from "../core/dev/defaultContainer.ts";
import { kubeletError } from "../core/errors.ts";
import { valueOf } from "../core/result.ts";
import { fromCall } from "../operators/fromCall.ts";
import { openStreams } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { SpdyConnection } from "../streaming/spdyConnection.ts";
import { type Joined, joinStreams, type Standard, terminalOf } from "./commandStreams.ts";
import { refusalOf, type TargetServer, targetServer, unanswered } from "./targetServer.ts";
import { podOfKubelet } from "./podOfKubelet.ts";

/** The protocol of exec and attach: an error stream ends with the status of the command. */
export const EXEC_PROTOCOL = "v4.channel.k8s.io";

/** Emits the exit code of the command. Errors: the server cannot be reached; the pod or container is unknown. */
export function exec(options: ExecOptions, standard: Standard): Observable<number> {
  const { tty, notice } = terminalOf(options.tty, standard);
  if (notice !== undefined) standard.stderr.write(`${notice}\n`);
  const joined = { stdin: options.stdin, stderr: !tty, tty };
  return streamed(options, standard, () => joined, "exec", options.words);
}

/** Emits the exit code of the container's process. Attaches a terminal only if the container has one. */
export function attach(options: AttachOptions, standard: Standard): Observable<number> {
  const { tty, notice } = terminalOf(options.tty, standard);
  if (notice !== undefined) standard.stderr.write(`${notice}\n`);
  return streamed(
    options,
    standard,
    (container) => {
      const isTerminal = tty && container.tty;
      if (tty && !container.tty)
        standard.stderr.write(`Unable to use a TTY - container ${container.name} did not allocate one\n`);
      else if (options.stdin && tty) standard.stderr.write("If you don't see a command prompt, try pressing enter.\n");
      return { stdin: options.stdin, stderr: !container.tty, tty: isTerminal };
    },
    "attach",
    [],
  );
}

function streamed(
  { target, namespace, pod: name, container }: AttachOptions,
  standard: Standard,
  joinedOf: (container: ChosenContainer) => Joined,
  verb: "exec" | "attach",
  words: readonly string[],
): Observable<number> {
  return targetServer(target).pipe(
    switchMap((server) =>
      podOfKubelet(server, namespace, name).pipe(
        switchMap((pod) => {
          const chosen = valueOf(chosenContainer(pod, container));
          if (chosen.notice !== undefined) standard.stderr.write(`${chosen.notice}\n`);
          const joined = joinedOf(chosen);
          const url = execUrl(server, verb, pod, chosen.name, joined, words);
          return openStreams(url, EXEC_PROTOCOL, server.access, systemClock).pipe(
            unanswered(server),
            switchMap((answer) => {
              if (!("status" in answer)) return joining(answer, joined, standard);
              const { status, text } = answer;
              throw refusalOf(server, status, text) ?? kubeletError("Unknown", text);
            }),
          );
        }),
      ),
    ),
  );
}

/** Returns the URL of a stream into a container. */
export function execUrl(
  { url }: TargetServer,
  verb: string,
  { metadata }: Pod,
  container: string,
  { stdin, stderr, tty }: Joined,
  words: readonly string[],
): string {
  const query = new URLSearchParams(words.map((word): [string, string] => ["command", word]));
  const wanted = { input: stdin, output: true, error: stderr, tty };
  for (const [name, isWanted] of Object.entries(wanted)) if (isWanted) query.set(name, "1");
  const path = [verb, metadata.namespace, metadata.name, container].map(encodeURIComponent).join("/");
  return `${url}/${path}?${query}`;
}

const joining = (connection: SpdyConnection, joined: Joined, standard: Standard): Observable<number> =>
  fromCall(async (signal) => {
    signal.addEventListener("abort", () => connection.close());
    const end = await joinStreams(connection, joined, standard).catch((thrown: unknown) => {
      throw kubeletError("Unavailable", "the connection broke off", { cause: thrown });
    });
    connection.close();
    if (end.kind === "failed") throw kubeletError("Unknown", end.message);
    // Same text as kubectl.
    if (end.exitCode !== 0) standard.stderr.write(`command terminated with exit code ${end.exitCode}\n`);
    return end.exitCode;
  });
