/**
 * A bearer token from a file that is rotated externally. Owns the current token. Upstream: client-go's
 * cachingTokenSource.
 */
import { catchError, map, of, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { readText } from "../../fileSystem/readText.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiAuthorization } from "./createApiServer.ts";

/** Maximum age of a token before it is read again: a minute, less a margin of ten seconds. */
const FRESH_MS = 50_000;

/** Reads the file with the first request after FRESH_MS. If the file is unreadable, the current token stays in use. */
export function tokenFileAuthorization(file: string, clock: Clock): ApiAuthorization {
  let last: { readonly headers: Readonly<Record<string, string>>; readonly readAt: number } | undefined;
  const read = async (): Promise<string> => {
    const text = await readText(file).catch((thrown: unknown) => {
      throw ioError("read", file, thrown);
    });
    if (text.trim() === "") throw kubeletError("PermissionDenied", `read empty token from file ${file}`);
    return text.trim();
  };
  return {
    headers() {
      if (last !== undefined && clock.monotonicMs() - last.readAt < FRESH_MS) return of(last.headers);
      return fromCall(read).pipe(
        map((token) => {
          last = { headers: { authorization: `Bearer ${token}` }, readAt: clock.monotonicMs() };
          return last.headers;
        }),
        catchError((thrown: unknown) => (last === undefined ? throwError(() => thrown) : of(last.headers))),
      );
    },
    rejected: () => {},
  };
}
