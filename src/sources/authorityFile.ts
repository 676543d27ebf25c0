/**
 * The certificate authorities in a file, again after each change. Bounds: one check at a time. Upstream: apiserver's
 * dynamic CA file, which also checks at each hint of the file system.
 */
import { X509Certificate } from "node:crypto";
import { catchError, distinctUntilChanged, EMPTY, type Observable } from "rxjs";
import { authoritiesIn } from "../core/cert/pemFile.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { readText } from "../fileSystem/readText.ts";
import { fromCall } from "../operators/fromCall.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 10_000;

async function read(path: string): Promise<string> {
  const text = await readText(path).catch((thrown: unknown) => {
    throw ioError("read", path, thrown);
  });
  const blocks = authoritiesIn(text);
  if (blocks.length === 0) throw kubeletError("InvalidArgument", `${path}: there is no certificate in it`);
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch (thrown) {
    throw ioError("use", path, thrown);
  }
  return blocks.join("");
}

/**
 * Emits the authorities at once, and after each change.
 *
 *     file          a------b--#--c
 *     authorities   a------b-----c
 *
 * Cancels: the current check. Errors: never, nor does it complete; an unusable file is reported to `onProblem` and
 * keeps the last authorities. Bound: one check at a time.
 */
export function authorityFile(
  path: string,
  clock: Clock,
  onProblem: (problem: KubeletError) => void,
): Observable<string> {
  const look = () =>
    fromCall(() => read(path)).pipe(
      catchError((thrown: unknown) => {
        onProblem(toKubeletError(thrown));
        return EMPTY;
      }),
    );
  return pollAfter(clock, LOOK_MS, look).pipe(distinctUntilChanged());
}
