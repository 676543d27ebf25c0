/** The client of the API server when servers, networks and proxies fail, on a real connection. */
import { firstValueFrom, toArray } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toKubeletError } from "../../../../src/core/errors.ts";
import type { Observable } from "rxjs";
import { createTestAuthority } from "../../../support/apiServer/certificates.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../../../support/apiServer/httpsApiServer.ts";
import type { RawReply } from "../../../support/apiServer/serveRequests.ts";
import { openTestLane, type TestLane, type TestLaneOptions } from "../../../support/apiServer/testLane.ts";
import { newPod } from "../../../support/simApi.ts";
import { waitFor } from "../../../support/waitFor.ts";

const JSON_TYPE = { "content-type": "application/json" };

async function failure(call: Observable<unknown>) {
  try {
    await firstValueFrom(call.pipe(toArray()));
    return { code: "no error" };
  } catch (thrown) {
    const { code, message, retryAfterMs } = toKubeletError(thrown);
    return { code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
}

describe.each([
  ["HTTP/2", {}],
  ["HTTP/1.1", { protocol: "http/1.1" }],
] as const)("client of the API server over %s", (_protocol, options) => {
  let current: HttpsApiServer | undefined;
  const lanes: TestLane[] = [];
  const server = (): HttpsApiServer => {
    if (current === undefined) throw new Error("the server did not start");
    return current;
  };
  const open = (more: TestLaneOptions = {}, of: Pick<HttpsApiServer, "url" | "authority"> = server()): TestLane => {
    const lane = openTestLane(of, { token: "admin", ...more });
    lanes.push(lane);
    return lane;
  };
  const replyOnce = (reply: RawReply | "hang"): void => {
    let left = 1;
    server().tamper(() => (left-- > 0 ? reply : undefined));
  };
  beforeAll(async () => {
    current = await startHttpsApiServer(options);
    current.tokens.set("admin", { kind: "admin" });
    current.sim.put("nodes", { metadata: { name: "n1" } });
  });
  beforeEach(async () => {
    server().tamper();
    await server().network.accept();
  });
  afterEach(() => {
    for (const lane of lanes.splice(0)) lane.close();
  });
  afterAll(() => current?.close());

  const read = ({ port }: TestLane) => port.get("nodes", { name: "n1" });
  const write = ({ port }: TestLane) =>
    port.patch("nodes", { name: "n1" }, { type: "application/merge-patch+json", body: {} });

  it("says so when nobody listens, and works again once somebody does", async () => {
    const lane = open();
    await server().network.refuse();
    const { code, message } = (await failure(read(lane))) as { code: string; message: string };
    await server().network.accept();
    expect([code, message.replace(/:\d+\//, ":PORT/"), (await firstValueFrom(read(lane))).metadata?.name]).toEqual([
      "Unavailable",
      "GET https://127.0.0.1:PORT/api/v1/nodes/n1: connection refused",
      "n1",
    ]);
  });

  it("hands on the pause that somebody before the server asks for", async () => {
    replyOnce({ status: 429, headers: { "retry-after": "7" }, body: "slow down" });
    expect(await failure(read(open()))).toMatchObject({ code: "TooManyRequests", retryAfterMs: 7_000 });
  });

  it.each<[string, RawReply, string]>([
    ["an answer that is no JSON", { status: 200, headers: JSON_TYPE, body: "<html>" }, "Unknown"],
    ["a page of a proxy", { status: 502, body: "<html>" }, "Unknown"],
    [
      "an answer that breaks off",
      { status: 200, headers: JSON_TYPE, body: '{"kind":', breaksOff: true },
      "Unavailable",
    ],
  ])("takes %s for a failure of a write", async (_what, reply, code) => {
    replyOnce(reply);
    expect(await failure(write(open()))).toMatchObject({ code });
  });

  it("asks a broken read once more, never a write", async () => {
    const lane = open();
    const broken = { status: 200, headers: JSON_TYPE, body: '{"kind":', breaksOff: true };
    replyOnce(broken);
    const once = (await firstValueFrom(read(lane))).metadata?.name;
    server().tamper(() => broken);
    const before = server().requests.length;
    const outcomes = [(await failure(read(lane))).code, (await failure(write(lane))).code];
    expect([
      once,
      outcomes,
      server()
        .requests.slice(before)
        .map((line) => line.split(" ")[0]),
    ]).toEqual(["n1", ["Unavailable", "Unavailable"], ["GET", "GET", "PATCH"]]);
  });

  it("gives up a call without answer at its deadline", async () => {
    server().tamper(() => "hang");
    expect(await failure(open({ deadlineMs: 50 }).port.list("pods"))).toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringMatching(/^GET 127\.0\.0\.1:\d+\/api\/v1\/pods: no answer within 50 ms$/),
    });
  });

  it("ends a watch with its subscription", async () => {
    const lane = open();
    const subscription = lane.port.watch("nodes").subscribe();
    await waitFor("the watch", () => server().sim.watchCount === 1);
    subscription.unsubscribe();
    expect(await waitFor("its end", () => server().sim.watchCount === 0)).toBe(true);
  });

  it("notifies the owner of the credentials that the server rejected them", async () => {
    let rejections = 0;
    const lane = open({ token: "stranger", onRejected: () => (rejections += 1) });
    const outcomes = [await failure(read(lane)), await failure(lane.port.watch("pods"))];
    expect([outcomes.map(({ code }) => code), rejections]).toEqual([["PermissionDenied", "PermissionDenied"], 2]);
  });

  it("rejects servers of another CA until the CA is replaced", async () => {
    const lane = open({}, { url: server().url, authority: await createTestAuthority() });
    expect(await failure(read(lane))).toMatchObject({ code: "Unavailable" });
    lane.transport.useAuthority(server().authority.certificate);
    expect(await failure(read(lane))).toEqual({ code: "no error" });
  });

  it("checks the certificate for the configured server name", async () => {
    const right = open({ tlsServerName: "kubernetes.default.svc" });
    const wrong = open({ tlsServerName: "example.com" });
    expect([(await firstValueFrom(read(right))).metadata?.name, (await failure(read(wrong))).code]).toEqual([
      "n1",
      "Unavailable",
    ]);
  });

  it("uses a replaced client certificate and restarts watches", async () => {
    const certificate = (nodeName: string) => server().clientCertificate({ kind: "node", nodeName });
    const { token: _none, ...more } = { token: "", identity: await certificate("n1") };
    const lane = openTestLane(server(), more);
    lanes.push(lane);
    const watch = firstValueFrom(lane.port.watch("nodes", { fieldSelector: "metadata.name=n1" }).pipe(toArray()));
    await waitFor("the watch", () => server().sim.watchCount === 1);
    const before = await failure(read(lane));
    lane.transport.useIdentity(await certificate("n2"));
    const seen = (await watch).map(({ type }) => type);
    expect([before.code, seen, (await failure(read(lane))).code]).toEqual(["no error", ["ADDED"], "PermissionDenied"]);
  });

  it("leaves a dead connection after a heartbeat without answer", async () => {
    const lane = open({ deadlineMs: 200, reconnectsAfterDeadline: true });
    await firstValueFrom(read(lane));
    // A connection may still be busy with the end of the answer: then a second one is opened, and frozen next.
    await waitFor("a call to be lost", async () => {
      server().network.freeze();
      return (await failure(read(lane))).code === "DeadlineExceeded";
    });
    const found = await waitFor("a new connection", async () => (await firstValueFrom(read(lane))).metadata?.name);
    expect(found).toBe("n1");
  });

  it("reconnects when its connections break", async () => {
    const lane = open();
    const ended = failure(lane.port.watch("nodes"));
    await waitFor("the watch", () => server().sim.watchCount === 1);
    server().network.cut();
    expect([(await ended).code, (await failure(read(lane))).code]).toEqual(["Unavailable", "no error"]);
  });

  it.each<[string, RawReply, string]>([
    ["a refusal", { status: 410, body: "gone" }, "Expired"],
    ["a line that is no JSON", { status: 200, body: "{nonsense\n" }, "Unknown"],
    ["a line that is no event", { status: 200, body: '{"type":"SURPRISE","object":{}}\n' }, "Unknown"],
    ["a line without end", { status: 200, body: "x".repeat(17 * 1024 * 1024) }, "ResourceExhausted"],
    ["an end within a line", { status: 200, body: '{"type":"ADDED"' }, "Unavailable"],
    ["a broken connection", { status: 200, body: "", breaksOff: true }, "Unavailable"],
  ])("ends a watch with an error for %s", async (_what, reply, code) => {
    replyOnce(reply);
    expect(await failure(open().port.watch("pods"))).toMatchObject({ code });
  });

  it("reads a state of many large objects in order", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `large-${String(index).padStart(3, "0")}`);
    const annotations = { filler: "x".repeat(20_000) };
    for (const name of names) server().sim.put("pods", newPod(name, {}, { annotations }));
    const seen: (string | undefined)[] = [];
    await new Promise<void>((resolve, reject) => {
      const subscription = open()
        .port.watch("pods", { sendInitialEvents: true, allowWatchBookmarks: true })
        .subscribe({
          next: ({ type, object }) => {
            if (type === "ADDED") seen.push((object as { metadata?: { name?: string } }).metadata?.name);
            if (type !== "BOOKMARK") return;
            subscription.unsubscribe();
            resolve();
          },
          error: reject,
        });
    });
    for (const name of names) server().sim.delete("pods", { namespace: "default", name }, { gracePeriodSeconds: 0 });
    expect(seen).toEqual(names);
  });
});

describe("connections to the API server", () => {
  it.each([
    ["share one connection over HTTP/2", {}, 1],
    ["have one each over HTTP/1.1", { protocol: "http/1.1" }, 20],
  ] as const)("of 20 watches %s", async (_what, options, expected) => {
    const server = await startHttpsApiServer(options);
    server.tokens.set("admin", { kind: "admin" });
    const lane = openTestLane(server, { token: "admin" });
    const watches = Array.from({ length: 20 }, () => lane.port.watch("nodes").subscribe());
    await waitFor("the watches", () => server.sim.watchCount === 20);
    const { connections } = server.network;
    for (const watch of watches) watch.unsubscribe();
    lane.close();
    await server.close();
    expect(connections).toBe(expected);
  });

  it("are counted by what came of their requests", async () => {
    const server = await startHttpsApiServer();
    server.tokens.set("admin", { kind: "admin" });
    const lane = openTestLane(server, { token: "admin" });
    await failure(lane.port.get("nodes", { name: "nobody" }));
    await firstValueFrom(lane.port.create("nodes", { metadata: { name: "n1" } }));
    await firstValueFrom(lane.port.watch("nodes", { timeoutSeconds: 1 }).pipe(toArray()));
    await server.network.refuse();
    await failure(lane.port.delete("nodes", { name: "n1" }));
    lane.close();
    await server.close();
    const reported = lane.records.map(({ method, code, call }) => [
      method,
      code,
      call !== undefined && call.requestBytes > 0,
    ]);
    expect(reported).toEqual([
      ["GET", 404, false],
      ["POST", 201, true],
      ["GET", 200, false],
      ["DELETE", undefined, true],
    ]);
  });
});
