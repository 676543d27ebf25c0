/** Formats network failures with the wording of the upstream kubelet (that of Go's net package). */
import { errnoOf } from "../../core/ioError.ts";

const SYSTEM_TEXT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by peer",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  EHOSTDOWN: "host is down",
  EADDRNOTAVAIL: "cannot assign requested address",
  EPIPE: "broken pipe",
  ETIMEDOUT: "connection timed out",
};

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Returns the first failure when several addresses were tried and all failed. */
const firstOf = (thrown: unknown): unknown => (thrown instanceof AggregateError ? thrown.errors[0] : thrown);

/** Formats a failed connection to `address` (`host:port`). */
export function dialError(address: string, thrown: unknown): string {
  const error = firstOf(thrown);
  const errno = errnoOf(error);
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN") {
    const host = address.slice(0, address.lastIndexOf(":"));
    const text = errno === "ENOTFOUND" ? "no such host" : "server misbehaving";
    return `dial tcp: lookup ${host}: ${text}`;
  }
  const text = SYSTEM_TEXT[errno];
  return `dial tcp ${address}: ${text === undefined ? messageOf(error) : `connect: ${text}`}`;
}

/** Formats a connection timeout. */
export const dialTimeout = (address: string): string => `dial tcp ${address}: i/o timeout`;

/** OpenSSL's code for a record that is not TLS. */
const WRONG_VERSION_NUMBER = 267;
/** `error:<packed number>:<library>:<function>:<reason>:`, the only form in which Node reports handshake errors. */
const OPENSSL_ERROR = /error:([0-9A-F]{8}):[^:]*:[^:]*:([^:]*):/;

/** Returns code and name of a TLS failure; undefined for other errors. */
function tlsReason(thrown: unknown): { readonly number: number; readonly name: string } | undefined {
  const match = errnoOf(thrown) === "EPROTO" ? OPENSSL_ERROR.exec(messageOf(thrown)) : null;
  if (match === null) return undefined;
  return { number: Number.parseInt(match[1] ?? "", 16) & 0x7f_ffff, name: match[2] ?? "" };
}

/** Returns whether the peer answered TLS with something else, most likely plain HTTP. */
export const isPlainAnswer = (thrown: unknown): boolean => tlsReason(thrown)?.number === WRONG_VERSION_NUMBER;

/** Formats a failure of an established connection. */
export function readError(address: string, thrown: unknown): string {
  if (isPlainAnswer(thrown)) return "http: server gave HTTP response to HTTPS client";
  const tls = tlsReason(thrown);
  if (tls !== undefined) return `tls: ${tls.name}`;
  const errno = errnoOf(thrown);
  // Node reports ECONNRESET also when the peer closed the connection cleanly before it answered.
  if (errno === "ECONNRESET" && messageOf(thrown) === "socket hang up") return "EOF";
  if (errno === "ECONNRESET" && messageOf(thrown) === "aborted") return "unexpected EOF";
  const text = SYSTEM_TEXT[errno];
  return text === undefined ? messageOf(thrown) : `read tcp ${address}: read: ${text}`;
}
