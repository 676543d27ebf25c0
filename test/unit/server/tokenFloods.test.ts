/** Tokens of strangers, while the API server is slow to say whose they are. */
import { finalize, NEVER, VirtualTimeScheduler } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { ApiServer } from "../../../src/ports/apiServer.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { createWebhookAuthorize } from "../../../src/server/auth/authorize.ts";
import { accessServer } from "../../support/kubeletAccess.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { waitFor } from "../../support/waitFor.ts";

let server: KubeletListener | undefined;
afterEach(() => server?.close());

/** A listener whose API server never says whose a token is; `asked` is what it was asked. */
async function start() {
  const asked: string[] = [];
  let waiting = 0;
  const silent = {
    create: (_resource: string, { spec }: { readonly spec: { readonly token: string } }) => {
      asked.push(spec.token);
      waiting += 1;
      return NEVER.pipe(finalize(() => (waiting -= 1)));
    },
  } as unknown as ApiServer;
  const { metrics } = recordingTelemetry();
  const shared = { clock: realClock, metrics };
  server = await startKubeletListener({
    access: {
      authenticate: createAuthenticate({ anonymous: false, reviewer: { api: silent, cacheTtlMs: 60_000 }, ...shared }),
      authorize: createWebhookAuthorize({
        ...{ api: accessServer({ admin: ["* *"] }).api, nodeName: "n", allowedTtlMs: 60_000, deniedTtlMs: 60_000 },
        ...shared,
      }),
      rules: { fineGrained: true, streamsNeedCreate: true },
    },
  });
  const { request, authority } = server;
  const identity = await authority.client({ commonName: "admin" });
  return {
    asked,
    waiting: () => waiting,
    ask: (token: string, signal?: AbortSignal) =>
      request("/pods", { headers: { authorization: `Bearer ${token}` }, ...(signal && { signal }) }),
    admin: () => request("/pods", { cert: identity.certificate, key: identity.key }),
  };
}

describe("unknown tokens", () => {
  it("wait for their review up to a bound, receive 429 above it, and do not delay clients with a certificate", async () => {
    const { ask, asked, admin } = await start();
    const leave = new AbortController();
    const parked = Array.from({ length: 32 }, (_, at) => ask(`token-${at}`, leave.signal).catch(() => undefined));
    await waitFor("32 reviews", () => asked.length === 32);
    expect(await ask("one-more")).toEqual({ status: 429, body: "Too many requests, please try again later.\n" });
    expect((await admin()).status).toBe(200);
    leave.abort();
    await Promise.all(parked);
  });

  it("are not reviewed after their client disconnected", async () => {
    const { ask, waiting } = await start();
    const leave = new AbortController();
    const parked = Array.from({ length: 8 }, (_, at) => ask(`token-${at}`, leave.signal).catch(() => undefined));
    await waitFor("8 reviews", () => waiting() === 8);
    leave.abort();
    await Promise.all(parked);
    await waitFor("no review", () => waiting() === 0);
  });

  it.each([["with a character that is none", "a\u00e9b"]])(
    "%s are no tokens, and nobody is asked",
    async (_what, token) => {
      const { ask, asked } = await start();
      expect((await ask(token)).status).toBe(401);
      expect(asked).toEqual([]);
    },
  );
});

it("a review has one deadline for all its attempts", () => {
  const scheduler = new VirtualTimeScheduler();
  const clock = { ...realClock, scheduler, monotonicMs: () => scheduler.now() as never };
  const authenticate = createAuthenticate({
    anonymous: false,
    reviewer: { api: { create: () => NEVER } as unknown as ApiServer, cacheTtlMs: 0 },
    clock,
    metrics: recordingTelemetry().metrics,
  });
  const errors: unknown[] = [];
  authenticate({ headers: { authorization: "Bearer x" }, certificate: undefined, peer: "" }).subscribe({
    error: ({ code }: { readonly code: string }) => errors.push([code, scheduler.now()]),
  });
  scheduler.flush();
  expect(errors).toEqual([["DeadlineExceeded", 10_000]]);
});
