/** `rxlet delete pod NAME` and `rxlet delete -f FILE`: removes manifests that `rxlet apply` wrote. */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  type Observable,
  of,
  reduce,
  switchMap,
  take,
} from "rxjs";
import type { DeleteOptions } from "../cli/manifestFlags.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { type AppliedRef, objectsIn, type ShownRef } from "../core/local/appliedManifests.ts";
import { removalPath } from "../core/local/manifestRequests.ts";
import { deadline } from "../operators/deadline.ts";
import { inSequence } from "../operators/inSequence.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { parseManifest } from "../sources/parseManifest.ts";
import { manifestPaths, readManifestFile } from "./manifestFiles.ts";
import { podsOfKubelet } from "./podOfKubelet.ts";
import type { Screen } from "./showPage.ts";
import { localServerOf, type TargetServer, unanswered } from "./targetServer.ts";

/** Period of looking whether a pod has ended, in milliseconds. */
const LOOK_AGAIN_MS = 300;

/**
 * Prints each removal, waits for the ends of the pods, and emits the exit code: 1 when an object could not be removed.
 * Errors: no local socket, or a file that cannot be read.
 */
export const deleteObjects = (options: DeleteOptions, out: Screen, notes: Screen): Observable<number> =>
  localServerOf(options.target).pipe(
    switchMap((server) =>
      from(namedObjects(options)).pipe(
        switchMap((refs) => inSequence(refs, (ref) => removed(server, ref, options, out, notes))),
        reduce((sum, { code, gone = [] }) => ({ code: Math.max(sum.code, code), gone: [...sum.gone, ...gone] }), {
          code: 0,
          gone: [] as readonly ShownRef[],
        }),
        switchMap(({ code, gone }) => concat(options.waits ? ended(server, gone, options) : EMPTY, of(code))),
      ),
    ),
  );

async function namedObjects({ files, objects, namespace }: DeleteOptions): Promise<readonly AppliedRef[]> {
  const refs: AppliedRef[] = objects.map((named) => ({ ...named, namespace }));
  for (const path of await manifestPaths(files)) {
    const { name, bytes } = await readManifestFile(path);
    const text = parseManifest(bytes);
    const [fault] = [...text.faults, ...text.documents.flatMap(({ faults = [] }) => faults)];
    if (fault !== undefined) throw kubeletError("InvalidArgument", `${name}:${fault.line ?? 1}: ${fault.reason}`);
    const found = objectsIn(text);
    if (found.length === 0) throw kubeletError("InvalidArgument", `${name}: holds no object that apply writes`);
    refs.push(...found);
  }
  return refs;
}

interface Removal {
  readonly code: number;
  readonly gone?: readonly ShownRef[];
}

const removed = (
  server: TargetServer,
  { kind, namespace, name }: AppliedRef,
  { isDry, ignoresMissing }: DeleteOptions,
  out: Screen,
  notes: Screen,
): Observable<Removal> =>
  defer(() => {
    const url = `${server.url}${removalPath(kind, namespace, name, isDry)}`;
    return askKubelet("DELETE", url, server.access, systemClock).pipe(unanswered(server));
  }).pipe(
    map(({ status, text }): Removal => {
      if (status === 404 && ignoresMissing) return { code: 0 };
      if (status !== 200) throw kubeletError("Rejected", text.trim().slice(0, 1_000));
      const gone = JSON.parse(text) as ShownRef;
      const place = gone.namespace === "" ? "" : ` from ${gone.namespace} namespace`;
      out.write(`${kind} "${gone.shown}" deleted${place}${isDry ? " (server dry run)" : ""}\n`);
      return { code: 0, gone: isDry ? [] : [gone] };
    }),
    catchError((thrown: unknown) => {
      notes.write(`rxlet: ${toKubeletError(thrown).message}\n`);
      return of({ code: 1 });
    }),
  );

/** Completes when the pods have ended. Errors: DeadlineExceeded after the timeout. */
function ended(server: TargetServer, gone: readonly ShownRef[], { timeoutMs }: DeleteOptions): Observable<never> {
  const keys = new Set(
    gone.filter(({ kind }) => kind === "pod").map(({ namespace, shown }) => `${namespace}/${shown}`),
  );
  if (keys.size === 0) return EMPTY;
  const end$ = pollAfter(systemClock, LOOK_AGAIN_MS, () => podsOfKubelet(server)).pipe(
    filter((pods) => !pods.some(({ metadata }) => keys.has(`${metadata.namespace}/${metadata.name}`))),
    take(1),
  );
  const late = () => kubeletError("DeadlineExceeded", "timed out waiting for the pods to end");
  return (timeoutMs === 0 ? end$ : end$.pipe(deadline(timeoutMs, systemClock, late))).pipe(ignoreElements());
}
