/** Reads the bearer token of a request. Upstream: apiserver's bearertoken and websocket authenticators. */

const PROTOCOL_PREFIX = "base64url.bearer.authorization.k8s.io.";

/** Headers that may carry a token. */
export interface TokenHeaders {
  readonly authorization?: string | undefined;
  /** `Sec-WebSocket-Protocol`: the only header that browsers can set. */
  readonly webSocketProtocols?: string | undefined;
}

/**
 * Returns the token; undefined when there is none or it is malformed. Protocols with more than one token count as none.
 */
export function bearerToken({ authorization = "", webSocketProtocols = "" }: TokenHeaders): string | undefined {
  const [scheme = "", token = ""] = authorization.trim().split(" ");
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  const encoded = webSocketProtocols.split(",").flatMap((protocol) => {
    const name = protocol.trim();
    return name.startsWith(PROTOCOL_PREFIX) ? [name.slice(PROTOCOL_PREFIX.length)] : [];
  });
  return encoded.length === 1 ? decoded(encoded[0] ?? "") : undefined;
}

/** Returns the protocols without the token, so that it is not forwarded. */
export const withoutToken = (webSocketProtocols: string): string =>
  webSocketProtocols
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(PROTOCOL_PREFIX))
    .join(", ");

function decoded(base64url: string): string | undefined {
  if (!/^[\w-]+$/.test(base64url)) return undefined;
  try {
    return atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}
