import { describe, expect, it } from "vitest";
import type { SigningRequest } from "../../../../src/core/cert/signingRequest.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { issueCertificate } from "../../../../src/pipelines/certificates/issueCertificate.ts";
import type { ApiServer, ApiWatchEvent } from "../../../../src/ports/apiServer.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

type Event = ApiWatchEvent<SigningRequest>;
const condition = (type: string, reason = "", message = "") => ({ type, status: "True", reason, message });
const request = (status: SigningRequest["status"] = {}, uid = "u1"): SigningRequest => ({
  metadata: { name: "node-csr-1", uid },
  spec: { request: "", signerName: "s" },
  status,
});
const issued = request({ conditions: [condition("Approved")], certificate: btoa("PEM") });
const modified = (object: SigningRequest): Event => ({ type: "MODIFIED", object });
const EVENTS: Readonly<Record<string, Event>> = {
  p: { type: "ADDED", object: request() },
  a: modified(request({ conditions: [condition("Approved")] })),
  i: modified(issued),
  d: modified(request({ conditions: [condition("Denied", "Because", "no such node")] })),
  f: modified(request({ conditions: [condition("Approved"), condition("Failed", "Broken", "no key")] })),
  x: { type: "DELETED", object: request() },
  o: modified(request({}, "u2")),
  b: { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
  e: { type: "ERROR", object: { code: 410 } },
};

/** A server that stores the request after 5 ms and answers each watch with the next of these diagrams. */
function server({ cold }: Marbles, ...watches: readonly string[]) {
  const left = [...watches];
  const asked: unknown[] = [];
  const api = {
    create: () => cold("5ms (r|)", { r: request() }),
    watch: (_resource: string, options: unknown) => {
      asked.push(options);
      return cold(left.shift() ?? "-", EVENTS, kubeletError("Unavailable", "cut"));
    },
  } as unknown as ApiServer;
  return { api, asked };
}

describe("issueCertificate", () => {
  it(
    "watches its own request until it is approved and issued",
    marbles((m) => {
      const { api, asked } = server(m, "10ms p 9ms a 9ms b 9ms i");
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe("45ms (c|)", { c: "PEM" });
      m.flush();
      expect(asked).toEqual([{ fieldSelector: "metadata.name=node-csr-1" }]);
    }),
  );

  for (const [event, message] of [
    ["d", "certificate signing request is denied, reason: Because, message: no such node"],
    ["f", "certificate signing request failed, reason: Broken, message: no key"],
    ["x", 'csr "node-csr-1" was deleted'],
    ["o", 'csr "node-csr-1" changed UIDs'],
  ] as const) {
    it(
      `fails when ${message}`,
      marbles((m) => {
        const { api } = server(m, `10ms ${event}`);
        const error = kubeletError("Rejected", message);
        m.expectObservable(issueCertificate(api, request(), m.clock)).toBe("15ms #", undefined, error);
      }),
    );
  }

  it(
    "watches again, a second after the watch broke, ended or was too old",
    marbles((m) => {
      const { api, asked } = server(m, "10ms #", "10ms |", "10ms e", "10ms i");
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe("3045ms (c|)", { c: "PEM" });
      m.flush();
      expect(asked).toHaveLength(4);
    }),
  );

  it(
    "fails after 15 minutes without a verdict",
    marbles((m) => {
      const { api } = server(m, "p");
      const message = "certificate request was not signed: timed out waiting for the condition";
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(
        "15m #",
        undefined,
        kubeletError("DeadlineExceeded", message),
      );
    }),
  );

  it(
    "uses an existing request of that name, with its outcome",
    marbles((m) => {
      const api = {
        create: () => m.cold("5ms #", {}, kubeletError("AlreadyExists", "there")),
        get: () => m.cold("5ms (r|)", { r: issued }),
        watch: () => m.cold("-"),
      } as unknown as ApiServer;
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe("10ms (c|)", { c: "PEM" });
    }),
  );

  it(
    "passes on a rejection by the server",
    marbles((m) => {
      const refused = kubeletError("PermissionDenied", "no");
      const api = { create: () => m.cold("5ms #", {}, refused) } as unknown as ApiServer;
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe("5ms #", undefined, refused);
    }),
  );
});
