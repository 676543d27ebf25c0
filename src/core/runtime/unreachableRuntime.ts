/** A socket of the container runtime that takes no connection, in words for the operator. */

/** How the gRPC library reports the last failed connect(2); there is nothing but its text. */
const LAST_CONNECT = /Last error: Error: connect (E[A-Z]+) /;

/** How it reports a server that answers something else than HTTP/2. */
const NO_HTTP2 = /Last error: (?:Error: )?Protocol error/;

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file"],
  ["ENOTDIR", "no such file"],
  ["ECONNREFUSED", "connection refused: nothing listens there, or it is not a socket"],
  ["ENOTSOCK", "not a socket"],
  ["EAGAIN", "its queue of connections is full"],
]);

/**
 * The sentence for a call that found no connection; undefined for `details` that report something else. No code branches
 * on it.
 */
export function unreachableRuntime(endpoint: string, details: string): string | undefined {
  if (NO_HTTP2.test(details)) {
    return `the server at ${endpoint} does not speak gRPC: is it the socket of a container runtime? See containerRuntimeEndpoint`;
  }
  const [, errno] = LAST_CONNECT.exec(details) ?? [];
  if (errno === undefined) return undefined;
  if (errno === "EACCES" || errno === "EPERM") {
    return `the container runtime at ${endpoint} cannot be used (permission denied): rxlet needs the right to connect, for example as root. See containerRuntimeEndpoint`;
  }
  const reason = REASONS.get(errno) ?? errno;
  return `no container runtime at ${endpoint} (${reason}): is containerd running? See containerRuntimeEndpoint`;
}
