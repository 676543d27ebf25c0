/** Classifies failed reviews. Upstream: DefaultShouldRetry in apiserver/pkg/util/webhook. */
import type { KubeletError } from "../errors.ts";

const INTERNAL_ERROR = 500;
const TIMEOUT = 504;

/** Returns the HTTP status of the API server's response; undefined when there was none. */
export function answeredStatus({ cause }: KubeletError): number | undefined {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "number" ? code : undefined;
}

/** Returns whether a retry may succeed soon. An unreachable server is not retried. */
export function isPassingFailure(error: KubeletError): boolean {
  if (error.retryAfterMs !== undefined || error.code === "TooManyRequests") return true;
  const status = answeredStatus(error);
  return status === INTERNAL_ERROR || status === TIMEOUT;
}
