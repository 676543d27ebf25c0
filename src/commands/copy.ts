/**
 * `rxlet cp`: copies files between this machine and a container, by the tar program of the container. Upstream: kubectl
 * cp.
 */
import { PassThrough, Readable, Writable } from "node:stream";
import { type Observable, switchMap } from "rxjs";
import path from "node:path";
import type { CopyOptions } from "../cli/copyFlags.ts";
import { remotePlace } from "../core/copy/copyPaths.ts";
import type { CommandEnd } from "../core/dev/commandEnd.ts";
import { chosenContainer } from "../core/dev/defaultContainer.ts";
import { kubeletError } from "../core/errors.ts";
import { valueOf } from "../core/result.ts";
import { fromCall } from "../operators/fromCall.ts";
import { type CommandPlace, runInContainer } from "./containerCommand.ts";
import { packTar } from "./packTar.ts";
import { podOfKubelet } from "./podOfKubelet.ts";
import type { Screen } from "./showPage.ts";
import { targetServer } from "./targetServer.ts";
import { unpackTar } from "./unpackTar.ts";

/** Bound of the messages of tar that are kept. */
const MAX_SAID = 4_096;

/** Copies, and emits the exit code: 1 when entries were skipped. Errors: the copy failed. */
export const copy = (options: CopyOptions, notes: Screen): Observable<number> =>
  targetServer(options.target).pipe(
    switchMap((server) =>
      podOfKubelet(server, options.namespace, options.pod).pipe(
        switchMap((pod) => {
          const { name, notice } = valueOf(chosenContainer(pod, options.container));
          if (notice !== undefined) notes.write(`${notice}\n`);
          const place = { server, pod, container: name };
          return fromCall((signal) =>
            (options.direction === "toPod" ? copyIn : copyOut)(place, options, notes, signal),
          );
        }),
      ),
    ),
  );

async function copyOut(
  place: CommandPlace,
  { remote, local, maxBytes }: CopyOptions,
  notes: Screen,
  signal: AbortSignal,
): Promise<number> {
  const { directory, name } = remotePlace(remote);
  const archive = new PassThrough();
  const errors = limitedText();
  let skipped = 0;
  const onSkipped = (why: string): void => {
    skipped += 1;
    notes.write(`warning: ${why}\n`);
  };
  const stop = new AbortController();
  const words = ["tar", "cf", "-", "-C", directory, name === "." ? "." : `./${name}`];
  const ended = runInContainer(
    place,
    words,
    { output: archive, errors: errors.stream },
    AbortSignal.any([signal, stop.signal]),
  );
  ended.catch((thrown: unknown) => archive.destroy(thrown as Error)); // awaited below, after what the archive says
  try {
    const count = await unpackTar(archive, { name, target: local, maxBytes, onSkipped });
    check(await ended, errors.text());
    if (count === 0) throw kubeletError("NotFound", `${remote}: tar in the container sent nothing`);
  } catch (thrown) {
    stop.abort();
    throw thrown;
  }
  return skipped > 0 ? 1 : 0;
}

async function copyIn(
  place: CommandPlace,
  { remote, local, noPreserve }: CopyOptions,
  notes: Screen,
  signal: AbortSignal,
): Promise<number> {
  const given = remotePlace(remote);
  const own = path.basename(path.resolve(local));
  const isDirectory = remote.endsWith("/") || given.name === "." || (await isRemoteDirectory(place, remote, signal));
  const { directory, name } = isDirectory ? { directory: remote, name: own } : given;
  if (name === "") throw kubeletError("InvalidArgument", `${local}: give a directory with a name`);
  let skipped = 0;
  const onSkipped = (why: string): void => {
    skipped += 1;
    notes.write(`warning: ${why}\n`);
  };
  const errors = limitedText();
  let failure: unknown;
  const input = Readable.from(packTar({ source: local, name, onSkipped }));
  input.on("error", (thrown) => (failure = thrown));
  const keep = noPreserve ? ["--no-same-permissions", "--no-same-owner"] : [];
  const words = ["tar", ...keep, "-xmf", "-", "-C", directory];
  const end = await runInContainer(place, words, { input, output: nothing(), errors: errors.stream }, signal);
  if (failure !== undefined) throw failure;
  check(end, errors.text());
  return skipped > 0 ? 1 : 0;
}

async function isRemoteDirectory(place: CommandPlace, remote: string, signal: AbortSignal): Promise<boolean> {
  const end = await runInContainer(place, ["test", "-d", remote], { output: nothing(), errors: nothing() }, signal);
  return end.kind === "exited" && end.exitCode === 0;
}

function check(end: CommandEnd, said: string): void {
  if (end.kind === "failed") throw kubeletError("Unknown", `cp needs tar in the container: ${end.message}`);
  if (end.exitCode === 0) return;
  throw kubeletError("Unknown", `tar in the container ended with exit code ${end.exitCode}: ${said.trim()}`);
}

const nothing = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

function limitedText(): { readonly stream: Writable; text(): string } {
  let said = "";
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (said.length < MAX_SAID) said += chunk.toString("utf8").slice(0, MAX_SAID - said.length);
      done();
    },
  });
  return { stream, text: () => said };
}
