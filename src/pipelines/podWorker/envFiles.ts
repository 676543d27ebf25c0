/** Reads the files that variables of a container come from, before its config is built. Counterpart: ParseEnv's callers. */
import { catchError, from, map, type Observable, of, reduce } from "rxjs";
import type { Container } from "../../core/api.ts";
import { type EnvFile, type EnvFiles, envFileKey, fileKeyRefs } from "../../core/container/envFile.ts";
import { toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { type PodContext, volumesOf } from "../podContext.ts";

/** Of one file. */
const MAX_BYTES = 1024 * 1024;

/** Emits once, never errors: what cannot be read is told by the variable that wants it. */
export function readEnvFiles(context: PodContext, container: Container): Observable<EnvFiles> {
  const { ports } = context;
  const refs = new Map(fileKeyRefs(container).map((ref) => [envFileKey(ref), ref]));
  const volumes = volumesOf(context);
  return inSequence([...refs], ([key, { volumeName, path }]): Observable<readonly [string, EnvFile]> => {
    const root = volumes.get(volumeName)?.path;
    if (root === undefined) return from([]);
    return ports.files.readInside(root, path, MAX_BYTES).pipe(
      map((text): Result<string> => ok(text)),
      catchError((thrown: unknown) => of(err(toKubeletError(thrown)))),
      map((content) => [key, { path: `${root}/${path}`, content }]),
    );
  }).pipe(reduce((files, [key, file]) => files.set(key, file), new Map<string, EnvFile>()));
}
