/** Network failures in the words operators know from the upstream kubelet (those of Go's net package). */
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

/** Several addresses tried and all failed: the first failure speaks for all. */
const firstOf = (thrown: unknown): unknown => (thrown instanceof AggregateError ? thrown.errors[0] : thrown);

/** A connection that was not made to `address` (`host:port`). */
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

/** A connection that was not made in time. */
export const dialTimeout = (address: string): string => `dial tcp ${address}: i/o timeout`;

/** OpenSSL's number for a record that is no TLS record. */
const WRONG_VERSION_NUMBER = 267;
/** `error:<packed number>:<library>:<function>:<reason>:`, the one place where Node tells them of a handshake. */
const OPENSSL_ERROR = /error:([0-9A-F]{8}):[^:]*:[^:]*:([^:]*):/;

/** Number and name of a TLS failure; undefined for anything else. */
function tlsReason(thrown: unknown): { readonly number: number; readonly name: string } | undefined {
  const match = errnoOf(thrown) === "EPROTO" ? OPENSSL_ERROR.exec(messageOf(thrown)) : null;
  if (match === null) return undefined;
  return { number: Number.parseInt(match[1] ?? "", 16) & 0x7f_ffff, name: match[2] ?? "" };
}

/** TLS was offered and something else came back: most likely plain HTTP. */
export const isPlainAnswer = (thrown: unknown): boolean => tlsReason(thrown)?.number === WRONG_VERSION_NUMBER;

/** A connection that broke after it was made. */
export function readError(address: string, thrown: unknown): string {
  if (isPlainAnswer(thrown)) return "http: server gave HTTP response to HTTPS client";
  const tls = tlsReason(thrown);
  if (tls !== undefined) return `tls: ${tls.name}`;
  const errno = errnoOf(thrown);
  // Node says ECONNRESET also when the other side closed in good order before it answered.
  if (errno === "ECONNRESET" && messageOf(thrown) === "socket hang up") return "EOF";
  if (errno === "ECONNRESET" && messageOf(thrown) === "aborted") return "unexpected EOF";
  const text = SYSTEM_TEXT[errno];
  return text === undefined ? messageOf(thrown) : `read tcp ${address}: read: ${text}`;
}
