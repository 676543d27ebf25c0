/** Which protocol both sides of an upgrade speak. Counterparts: httpstream.Handshake, wsstream's handshake. */

/** Header of SPDY upgrades that names protocols. */
export const STREAM_PROTOCOL_HEADER = "x-stream-protocol-version";
/** What a WebSocket's tunnel of SPDY is called, before the protocol of its streams. */
export const TUNNEL_PREFIX = "SPDY/3.1+";
const TUNNEL_SUFFIX = ".k8s.io";

/** The protocols a header offers, most wanted first. */
export const offeredProtocols = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** The client's first that the server speaks. */
export const agreedProtocol = (offered: readonly string[], spoken: readonly string[]): string | undefined =>
  offered.find((protocol) => spoken.includes(protocol));

/** The protocols of streams tunnelled through a WebSocket, of those it offers. */
export const tunnelledProtocols = (offered: readonly string[]): readonly string[] =>
  offered
    .filter((protocol) => protocol.startsWith(TUNNEL_PREFIX) && protocol.endsWith(TUNNEL_SUFFIX))
    .map((protocol) => protocol.slice(TUNNEL_PREFIX.length));

/** The remote command protocol with a signal for the end of a channel. */
export const CLOSE_SIGNAL_PROTOCOL = "v5.channel.k8s.io";
