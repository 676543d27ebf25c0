/**
 * Reads the files that variables of a container refer to, before its config is built. Upstream: the callers of
 * ParseEnv.
 */
import { catchError, defer, from, map, type Observable, of, reduce, tap } from "rxjs";
import type { Container } from "../../core/api.ts";
import { type EnvFile, type EnvFiles, envFileKey, fileKeyRefs } from "../../core/container/envFile.ts";
import { MAX_CONTAINER_TEXT_BYTES } from "../../core/container/textBudget.ts";
import { toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { utf8Length } from "../../core/utf8Length.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Files } from "../../ports/files.ts";

/** Maximum size of one file; the bound on variables covers all files of a container together. */
const MAX_BYTES = 1024 * 1024;

/** Emits once, never errors: the variable that needs a file reports why the file cannot be read. */
export function readEnvFiles(
  files: Pick<Files, "readInside">,
  volumes: ReadonlyMap<string, Pick<VolumeLayout, "path">>,
  container: Container,
): Observable<EnvFiles> {
  const refs = new Map(fileKeyRefs(container).map((ref) => [envFileKey(ref), ref]));
  return defer(() => {
    let left = MAX_CONTAINER_TEXT_BYTES;
    return inSequence([...refs], ([key, { volumeName, path }]): Observable<readonly [string, EnvFile]> => {
      const root = volumes.get(volumeName)?.path;
      if (root === undefined) return from([]);
      return files.readInside(root, path, Math.min(MAX_BYTES, left)).pipe(
        tap((text) => {
          left -= utf8Length(text);
        }),
        map((text): Result<string> => ok(text)),
        catchError((thrown: unknown) => of(err(toKubeletError(thrown)))),
        map((content) => [key, { path: `${root}/${path}`, content }]),
      );
    });
  }).pipe(reduce((read, [key, file]) => read.set(key, file), new Map<string, EnvFile>()));
}
