import { describe, expect, it } from "vitest";
import { dialError, dialTimeout, isPlainAnswer, readError } from "../../../../src/sinks/probers/netError.ts";

const ADDRESS = "[::1]:80";
const failure = (code: string, message = "failed") => Object.assign(new Error(message), { code });
const WORDS = [
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "connection reset by peer"],
  ["EHOSTUNREACH", "no route to host"],
  ["ENETUNREACH", "network is unreachable"],
  ["EHOSTDOWN", "host is down"],
  ["EADDRNOTAVAIL", "cannot assign requested address"],
  ["EPIPE", "broken pipe"],
  ["ETIMEDOUT", "connection timed out"],
] as const;
const tls = (packed: string, name: string, code = "EPROTO") =>
  failure(code, `write EPROTO 80:error:${packed}:SSL routines:ssl3_get_record:${name}:../deps/x.c:355:\n`);
/** Library 20 and reason 267, packed as OpenSSL 3 does. */
const PLAIN = tls("0A00010B", "wrong version number");

describe("a failed connection", () => {
  it.each(WORDS)("by %s is worded as upstream does", (code, words) => {
    expect([dialError(ADDRESS, failure(code)), readError(ADDRESS, failure(code))]).toEqual([
      `dial tcp ${ADDRESS}: connect: ${words}`,
      `read tcp ${ADDRESS}: read: ${words}`,
    ]);
  });

  it.each([
    ["ENOTFOUND", "dial tcp: lookup host.example: no such host"],
    ["EAI_AGAIN", "dial tcp: lookup host.example: server misbehaving"],
    ["EOTHER", "dial tcp host.example:80: failed"],
  ])("by %s names the host or the address", (code, text) => {
    expect(dialError("host.example:80", failure(code))).toBe(text);
  });

  it("of several addresses has the first failure", () => {
    const all = new AggregateError([failure("ECONNREFUSED"), failure("ETIMEDOUT")]);
    expect(dialError(ADDRESS, all)).toBe(`dial tcp ${ADDRESS}: connect: connection refused`);
  });

  it("that took too long is a timeout", () => {
    expect(dialTimeout(ADDRESS)).toBe(`dial tcp ${ADDRESS}: i/o timeout`);
  });

  it("by something that is no error has its text", () => {
    expect([dialError(ADDRESS, "text"), readError(ADDRESS, "text")]).toEqual([`dial tcp ${ADDRESS}: text`, "text"]);
  });
});

describe("a failure of an established connection", () => {
  it.each([
    ["closed before the response", failure("ECONNRESET", "socket hang up"), "EOF"],
    ["closed within the response", failure("ECONNRESET", "aborted"), "unexpected EOF"],
    ["closed by another failure", failure("EOTHER", "socket hang up"), "socket hang up"],
    ["cut off by another failure", failure("EOTHER", "aborted"), "aborted"],
    ["answered without TLS", PLAIN, "http: server gave HTTP response to HTTPS client"],
    [
      "refused in the handshake",
      tls("0A000410", "sslv3 alert handshake failure"),
      "tls: sslv3 alert handshake failure",
    ],
    ["ended by a text like a TLS failure", tls("0A00010B", "x", "EOTHER"), tls("0A00010B", "x").message],
    ["ended by a protocol error without a reason", failure("EPROTO", "x"), "x"],
  ])("%s", (_, thrown, text) => {
    expect(readError(ADDRESS, thrown)).toBe(text);
  });

  it.each([
    [PLAIN, true],
    [tls("1408F10B", "wrong version number"), false],
    [tls("0A00010C", "other"), false],
    [failure("EPROTO"), false],
    [tls("0A00010B", "x", "EOTHER"), false],
  ])("is a plain answer by its reason: case %#", (thrown, isPlain) => {
    expect(isPlainAnswer(thrown)).toBe(isPlain);
  });
});
