/**
 * Protocol negotiation of upgrades.
 * Upstream: httpstream.Handshake and the handshake of wsstream.
 */

/** Header that lists the protocols of a SPDY upgrade. */
export const STREAM_PROTOCOL_HEADER = "x-stream-protocol-version";
/** Prefix of WebSocket subprotocols that tunnel SPDY, followed by the protocol of the streams. */
export const TUNNEL_PREFIX = "SPDY/3.1+";
const TUNNEL_SUFFIX = ".k8s.io";

/** Returns the protocols listed in a header, most preferred first. */
export const offeredProtocols = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** Returns the client's most preferred protocol that the server supports. */
export const agreedProtocol = (offered: readonly string[], spoken: readonly string[]): string | undefined =>
  offered.find((protocol) => spoken.includes(protocol));

/** Returns the stream protocols of the offered WebSocket tunnels. */
export const tunnelledProtocols = (offered: readonly string[]): readonly string[] =>
  offered
    .filter((protocol) => protocol.startsWith(TUNNEL_PREFIX) && protocol.endsWith(TUNNEL_SUFFIX))
    .map((protocol) => protocol.slice(TUNNEL_PREFIX.length));

/** The remote command protocol that can close a single channel. */
export const CLOSE_SIGNAL_PROTOCOL = "v5.channel.k8s.io";
