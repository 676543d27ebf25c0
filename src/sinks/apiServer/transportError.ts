/** What went wrong between us and the API server, as KubeletErrors. */
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

/** Several addresses tried and all failed: the first failure speaks for all. */
const firstOf = (thrown: unknown): unknown => (thrown instanceof AggregateError ? thrown.errors[0] : thrown);

/** The failure of a request, named by `what`; its cause has the errno. */
export function transportError(what: string, thrown: unknown): KubeletError {
  rethrowInvariant(thrown);
  if (isKubeletError(thrown)) return thrown;
  const first = firstOf(thrown);
  const errno = errnoOf(first);
  const message = first instanceof Error ? first.message : String(first);
  const code = errno === "UND_ERR_HEADERS_TIMEOUT" ? "DeadlineExceeded" : "Unavailable";
  // Not as cause: that is the server's Status, and the server said nothing.
  return kubeletError(code, `${what}: ${TEXTS[errno] ?? message}`);
}
