/** A bearer token from a file that somebody rotates. Owns the last token. Upstream: client-go's cachingTokenSource. */
import { catchError, map, of, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { readText } from "../../fileSystem/readText.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiAuthorization } from "./createApiServer.ts";

/** A token is read again when it is older than this: a minute, less ten seconds to be early. */
const FRESH_MS = 50_000;

/** Reads the file with the first request after FRESH_MS. One that cannot be read keeps the last token in use. */
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
