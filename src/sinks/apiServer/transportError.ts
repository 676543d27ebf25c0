/** Converts failures between client and API server to KubeletErrors. */
import { isKubeletError, type KubeletError, kubeletError } from "../../core/errors.ts";
import { rethrowInvariant } from "../../core/invariant.ts";
import { errnoOf } from "../../core/ioError.ts";

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by peer",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host name cannot be looked up now",
  EPIPE: "broken pipe",
  ETIMEDOUT: "connection timed out",
};

/** Returns the first failure when several addresses were tried and all failed. */
const firstOf = (thrown: unknown): unknown => (thrown instanceof AggregateError ? thrown.errors[0] : thrown);

/** Converts the failure of the request `what`; the errno is in its cause. */
export function transportError(what: string, thrown: unknown): KubeletError {
  rethrowInvariant(thrown);
  if (isKubeletError(thrown)) return thrown;
  const first = firstOf(thrown);
  const errno = errnoOf(first);
  const message = first instanceof Error ? first.message : String(first);
  const code = errno === "UND_ERR_HEADERS_TIMEOUT" ? "DeadlineExceeded" : "Unavailable";
  // The thrown error is not the `cause`, which is reserved for the server's Status; the server sent none.
  return kubeletError(code, `${what}: ${TEXTS[errno] ?? message}`);
}
