/** `rxlet apply -f FILE`: hands manifests to the daemon, which checks them and writes them to its manifest directory. */
import { catchError, concat, defer, from, map, type Observable, of, reduce, switchMap } from "rxjs";
import type { ApplyOptions } from "../cli/manifestFlags.ts";
import type { ApplyAnswer } from "../core/local/appliedManifests.ts";
import { MANIFESTS_PATH } from "../core/local/manifestRequests.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { problemText } from "../core/pod/manifest/problemText.ts";
import { inSequence } from "../operators/inSequence.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { manifestPaths, type NamedManifest, readManifestFile } from "./manifestFiles.ts";
import type { Screen } from "./showPage.ts";
import { localServerOf, type TargetServer, unanswered } from "./targetServer.ts";

/**
 * Prints what happened to each object and emits the exit code: 1 when a manifest was refused, after the others were
 * applied. Errors: no local socket, or a path that cannot be read.
 */
export const apply = (options: ApplyOptions, out: Screen, notes: Screen): Observable<number> =>
  localServerOf(options.target).pipe(
    switchMap((server) =>
      from(manifestPaths(options.files)).pipe(
        switchMap((paths) =>
          concat(
            of(0),
            inSequence(paths, (path) => applied(server, path, options, out, notes)),
          ),
        ),
      ),
    ),
    reduce((worst, code) => Math.max(worst, code), 0),
  );

const applied = (
  server: TargetServer,
  path: string,
  { isDry }: ApplyOptions,
  out: Screen,
  notes: Screen,
): Observable<number> =>
  defer(() => from(readManifestFile(path))).pipe(
    switchMap((manifest) =>
      send(server, manifest, isDry).pipe(map((answer) => shown(answer, manifest, isDry, out, notes))),
    ),
    catchError((thrown: unknown) => {
      notes.write(`rxlet: ${toKubeletError(thrown).message}\n`);
      return of(1);
    }),
  );

const send = (server: TargetServer, { name, bytes }: NamedManifest, isDry: boolean): Observable<ApplyAnswer> => {
  const url = `${server.url}${MANIFESTS_PATH}${isDry ? "?dryRun=true" : ""}`;
  return askKubelet("POST", url, server.access, systemClock, { body: bytes }).pipe(
    unanswered(server),
    map(({ status, text }) => {
      if (status === 200 || status === 422) return JSON.parse(text) as ApplyAnswer;
      throw kubeletError("Rejected", `${name}: ${text.trim().slice(0, 1_000)}`);
    }),
  );
};

function shown(answer: ApplyAnswer, { name }: NamedManifest, isDry: boolean, out: Screen, notes: Screen): number {
  for (const problem of answer.problems) {
    notes.write(`${problem.severity === "error" ? "rxlet" : "Warning"}: ${problemText(problem, name)}\n`);
  }
  if (answer.changes === undefined) return 1;
  const suffix = isDry ? " (server dry run)" : "";
  for (const { kind, shown: shownName, outcome } of answer.changes)
    out.write(`${kind}/${shownName} ${outcome}${suffix}\n`);
  return 0;
}
