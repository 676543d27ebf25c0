/** The client certificate of a connection, read once and cached with the socket. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Credentials } from "./authenticate.ts";

/** The subject of the client certificate; undefined if the client presented none. */
export interface Peer {
  readonly certificate: Credentials["certificate"];
  /** End of the certificate's validity, in milliseconds since the epoch. */
  readonly notAfter: number;
}

const peers = new WeakMap<TLSSocket, Peer>();

const several = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

const NOBODY: Peer = { certificate: undefined, notAfter: Number.POSITIVE_INFINITY };

/** Returns the peer of a connection. Reads the certificate once per connection. */
export function peerOf(socket: Socket): Peer {
  if (!(socket instanceof TLSSocket)) return NOBODY;
  const peer = peers.get(socket) ?? read(socket);
  peers.set(socket, peer);
  return peer;
}

function read(socket: TLSSocket): Peer {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return NOBODY;
  const notAfter = certificate.validToDate.getTime();
  if (!socket.authorized) return { certificate: "unknown", notAfter };
  const subject = certificate.toLegacyObject().subject as Readonly<Record<string, string | readonly string[]>>;
  return {
    certificate: {
      commonName: several(subject["CN"])[0] ?? "",
      organizations: several(subject["O"]),
      fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    },
    notAfter,
  };
}
