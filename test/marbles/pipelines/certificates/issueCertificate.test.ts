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
  const silence = "-";
  const create = " 5ms (r|)";

  const left = [...watches];
  const asked: unknown[] = [];
  const api = {
    create: () => cold(create, { r: request() }),
    watch: (_resource: string, options: unknown) => {
      asked.push(options);
      return cold(left.shift() ?? silence, EVENTS, kubeletError("Unavailable", "cut"));
    },
  } as unknown as ApiServer;
  return { api, asked };
}

describe("issueCertificate", () => {
  it(
    "watches its own request until it is approved and issued",
    marbles((m) => {
      const watch = "   10ms p 9ms a 9ms b 9ms i";
      const expected = "45ms (c|)";

      const { api, asked } = server(m, watch);
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(expected, { c: "PEM" });
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
        const expected = "15ms #";

        const { api } = server(m, `10ms ${event}`);
        const error = kubeletError("Rejected", message);
        m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(expected, undefined, error);
      }),
    );
  }

  it(
    "watches again, a second after the watch broke, ended or was too old",
    marbles((m) => {
      const broken = "  10ms #";
      const ended = "   10ms |";
      const expired = " 10ms e";
      const issuing = " 10ms i";
      const expected = "3045ms (c|)";

      const { api, asked } = server(m, broken, ended, expired, issuing);
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(expected, { c: "PEM" });
      m.flush();
      expect(asked).toHaveLength(4);
    }),
  );

  it(
    "fails after 15 minutes without a verdict",
    marbles((m) => {
      const watch = "   p";
      const expected = "15m #";

      const { api } = server(m, watch);
      const message = "certificate request was not signed: timed out waiting for the condition";
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(
        expected,
        undefined,
        kubeletError("DeadlineExceeded", message),
      );
    }),
  );

  it(
    "uses an existing request of that name, with its outcome",
    marbles((m) => {
      const create = "  5ms #";
      const get = "     5ms (r|)";
      const watch = "   -";
      const expected = "10ms (c|)";

      const api = {
        create: () => m.cold(create, {}, kubeletError("AlreadyExists", "there")),
        get: () => m.cold(get, { r: issued }),
        watch: () => m.cold(watch),
      } as unknown as ApiServer;
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(expected, { c: "PEM" });
    }),
  );

  it(
    "passes on a rejection by the server",
    marbles((m) => {
      const create = "  5ms #";
      const expected = "5ms #";

      const refused = kubeletError("PermissionDenied", "no");
      const api = { create: () => m.cold(create, {}, refused) } as unknown as ApiServer;
      m.expectObservable(issueCertificate(api, request(), m.clock)).toBe(expected, undefined, refused);
    }),
  );
});
