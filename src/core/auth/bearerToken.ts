/** The bearer token of a request. Counterpart: apiserver's bearertoken and websocket authenticators. */

const PROTOCOL_PREFIX = "base64url.bearer.authorization.k8s.io.";

/** Headers a token may be in. */
export interface TokenHeaders {
  readonly authorization?: string | undefined;
  /** `Sec-WebSocket-Protocol`: browsers can set no other header. */
  readonly webSocketProtocols?: string | undefined;
}

/** The token; undefined: none is given, or what is given is none. Of several in the protocols only a single one counts. */
export function bearerToken({ authorization = "", webSocketProtocols = "" }: TokenHeaders): string | undefined {
  const [scheme = "", token = ""] = authorization.trim().split(" ");
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  const encoded = webSocketProtocols.split(",").flatMap((protocol) => {
    const name = protocol.trim();
    return name.startsWith(PROTOCOL_PREFIX) ? [name.slice(PROTOCOL_PREFIX.length)] : [];
  });
  return encoded.length === 1 ? decoded(encoded[0] ?? "") : undefined;
}

/** The protocols without the one that is a token: nobody further on is told of it. */
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
