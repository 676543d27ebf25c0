/** What a failed question about a user means. Counterpart: DefaultShouldRetry in apiserver/pkg/util/webhook. */
import type { KubeletError } from "../errors.ts";

const INTERNAL_ERROR = 500;
const TIMEOUT = 504;

/** The HTTP status of the API server's answer; undefined when there was none. */
export function answeredStatus({ cause }: KubeletError): number | undefined {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "number" ? code : undefined;
}

/** Whether the same question may be answered a moment later. A server that cannot be reached is not asked again. */
export function isPassingFailure(error: KubeletError): boolean {
  if (error.retryAfterMs !== undefined || error.code === "TooManyRequests") return true;
  const status = answeredStatus(error);
  return status === INTERNAL_ERROR || status === TIMEOUT;
}
