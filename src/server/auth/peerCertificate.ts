/** The client certificate of a connection. What was found is kept with the connection and goes with it. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Credentials } from "./authenticate.ts";

interface Peer {
  readonly certificate: Credentials["certificate"];
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

const peers = new WeakMap<TLSSocket, Peer>();

const several = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

/** Who the certificate says the peer is; undefined: it brought none. `now`: milliseconds since the epoch. */
export function certificateOf(socket: Socket, now: number): Credentials["certificate"] {
  if (!(socket instanceof TLSSocket)) return undefined;
  const peer = peers.get(socket) ?? read(socket);
  peers.set(socket, peer);
  return peer.notAfter < now ? "unknown" : peer.certificate;
}

function read(socket: TLSSocket): Peer {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return { certificate: undefined, notAfter: Number.POSITIVE_INFINITY };
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
