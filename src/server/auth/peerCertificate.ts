/** The client certificate of a connection. What was found is kept with the connection and goes with it. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Credentials } from "./authenticate.ts";

/** Who a certificate says the peer is; undefined: it brought none. */
export interface Peer {
  readonly certificate: Credentials["certificate"];
  /** Until when it counts, in milliseconds since the epoch. */
  readonly notAfter: number;
}

const peers = new WeakMap<TLSSocket, Peer>();

const several = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

const NOBODY: Peer = { certificate: undefined, notAfter: Number.POSITIVE_INFINITY };

/** Reads it once per connection. */
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
