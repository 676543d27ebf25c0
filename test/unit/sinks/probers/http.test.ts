import type { LookupFunction } from "node:net";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { HttpTarget } from "../../../../src/core/probe/probeTarget.ts";
import { toKubeletError } from "../../../../src/core/errors.ts";
import { httpHook, httpProbe } from "../../../../src/sinks/probers/http.ts";
import { LOOPBACK, loopbackServers, requestHead } from "../../../support/loopbackServer.ts";
import { realClock } from "../../../support/realClock.ts";

const target = (port: number, path = "/", more: Partial<HttpTarget> = {}): HttpTarget => ({
  scheme: "http",
  host: LOOPBACK,
  port,
  path,
  headers: [
    ["User-Agent", "kube-probe/1.36"],
    ["Accept", "*/*"],
  ],
  ...more,
});

const probe = (asked: HttpTarget, timeoutMs = 5_000) =>
  firstValueFrom(httpProbe({ target: asked, timeoutMs }, realClock)).catch((thrown: unknown) => {
    const { code, message } = toKubeletError(thrown);
    return { code, message };
  });

describe("httpProbe", () => {
  const servers = loopbackServers();

  it.each([
    [200, { result: "success", output: "body" }],
    [299, { result: "success", output: "body" }],
    [300, { result: "warning", output: "Probe terminated redirects, Response body: body" }],
    [302, { result: "warning", output: "Probe terminated redirects, Response body: body" }],
    [400, { result: "failure", output: "HTTP probe failed with statuscode: 400" }],
    [503, { result: "failure", output: "HTTP probe failed with statuscode: 503" }],
  ])("takes status %d as upstream does, and tells no body of a refusal", async (status, expected) => {
    const port = await servers.http((_, response) => response.writeHead(status).end("body"));
    expect(await probe(target(port))).toEqual(expected);
  });

  it("sends what it was given and its own host, on a connection that is not kept", async () => {
    const heads: (readonly string[])[] = [];
    const port = await servers.http((request, response) => {
      heads.push(requestHead(request));
      response.end();
    });
    const headers = [
      ["X-One", "1"],
      ["x-one", "2"],
      ["Content-Length", "7"],
      ["Accept", "text/plain"],
    ] as const;
    await probe(target(port, "/a?b=c", { headers }));
    await probe(target(port, "/", { headers: [["Host", "app.example"]] }));
    expect(heads).toEqual([
      ["GET /a?b=c", `Host: ${LOOPBACK}:${port}`, "X-One: 1", "x-one: 2", "Accept: text/plain", "Connection: close"],
      ["GET /", "Host: app.example", "Connection: close"],
    ]);
    expect(servers.connections()).toBe(2);
  });

  it("finds the address of a name, also for hooks, by the look-up it is given", async () => {
    const port = await servers.http((_, response) => response.end("here"));
    const names: string[] = [];
    const lookup: LookupFunction = (name, _, answer) => {
      names.push(name);
      answer(null, [{ address: LOOPBACK, family: 4 }]);
    };
    const asked = { ...target(port), host: "pod.example" };
    const found = await firstValueFrom(httpProbe({ target: asked, timeoutMs: 5_000 }, realClock, lookup));
    expect(found).toEqual({ result: "success", output: "here" });
    expect(await firstValueFrom(httpHook(asked, realClock, lookup))).toEqual({ fellBack: false });
    expect(names).toEqual(["pod.example", "pod.example"]);
  });

  it("trusts any certificate", async () => {
    const port = await servers.https((_, response) => response.end("secret"));
    expect(await probe(target(port, "/", { scheme: "https" }))).toEqual({ result: "success", output: "secret" });
  });

  it("follows redirects on the same host, from port to port too, and says where it came from", async () => {
    const heads: (readonly string[])[] = [];
    const last = await servers.https((request, response) => {
      heads.push(requestHead(request));
      response.end("there");
    });
    const port = await servers.http((request, response) => {
      const location = request.url === "/" ? "/next" : `https://${LOOPBACK}:${last}/last?x=1`;
      response.writeHead(307, { location }).end();
    });
    expect(await probe(target(port))).toEqual({ result: "success", output: "there" });
    expect(heads).toEqual([
      [
        "GET /last?x=1",
        `Host: ${LOOPBACK}:${last}`,
        "User-Agent: kube-probe/1.36",
        "Accept: */*",
        `Referer: http://${LOOPBACK}:${port}/next`,
        "Connection: close",
      ],
    ]);
  });

  it("does not follow a redirect to another host: a success with a warning", async () => {
    const port = await servers.http((_, response) =>
      response.writeHead(302, { location: "http://elsewhere.example/" }).end("moved"),
    );
    expect(await probe(target(port))).toEqual({
      result: "warning",
      output: "Probe terminated redirects, Response body: moved",
    });
  });

  it("gives up after ten requests of redirects", async () => {
    const port = await servers.http((_, response) => response.writeHead(301, { location: "/again" }).end());
    expect(await probe(target(port))).toEqual({
      result: "failure",
      output: `Get "http://${LOOPBACK}:${port}/again": stopped after 10 redirects`,
    });
    expect(servers.connections()).toBe(10);
  });

  it("looks at the first 10 KiB of an endless body", async () => {
    const port = await servers.http((_, response) => {
      const more = (): void => {
        if (response.destroyed) return;
        response.write("x".repeat(4096), () => setImmediate(more));
      };
      more();
    });
    expect(await probe(target(port))).toEqual({ result: "success", output: "x".repeat(10 * 1024) });
  });

  it("fails when nothing listens, when the connection is reset, and when it is closed without an answer", async () => {
    const closed = await servers.closedPort();
    const resetting = await servers.tcp((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const closing = await servers.tcp((socket) => socket.once("data", () => socket.end()));
    const get = (port: number): string => `Get "http://${LOOPBACK}:${port}/"`;
    expect([await probe(target(closed)), await probe(target(resetting)), await probe(target(closing))]).toEqual([
      {
        result: "failure",
        output: `${get(closed)}: dial tcp ${LOOPBACK}:${closed}: connect: connection refused`,
      },
      {
        result: "failure",
        output: `${get(resetting)}: read tcp ${LOOPBACK}:${resetting}: read: connection reset by peer`,
      },
      { result: "failure", output: `${get(closing)}: EOF` },
    ]);
  });

  it("fails over HTTPS against a server that speaks HTTP", async () => {
    const port = await servers.http((_, response) => response.end());
    expect(await probe(target(port, "/", { scheme: "https" }))).toEqual({
      result: "failure",
      output: `Get "https://${LOOPBACK}:${port}/": http: server gave HTTP response to HTTPS client`,
    });
  });

  it("fails when no answer begins in time", async () => {
    const port = await servers.http(() => {});
    expect(await probe(target(port), 1_000)).toEqual({
      result: "failure",
      output: `Get "http://${LOOPBACK}:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
  });

  it("errs, which counts for nothing, when an answer does not end in time or breaks off", async () => {
    const slow = await servers.http((_, response) => response.writeHead(200, { "content-length": "9" }).write("slow"));
    const broken = await servers.http((_, response) => {
      response.writeHead(200, { "content-length": "9" }).write("half", () => response.destroy());
    });
    // On a busy machine even the head of an answer may take longer than the shortest time.
    const begun = async (): Promise<unknown> => {
      for (const timeoutMs of [50, 1_000]) {
        const found = await probe(target(slow), timeoutMs);
        if ("code" in found) return found;
      }
      return probe(target(slow), 20_000);
    };
    expect([await begun(), await probe(target(broken))]).toEqual([
      {
        code: "DeadlineExceeded",
        message: "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
      },
      { code: "Io", message: "unexpected EOF" },
    ]);
  });

  it("closes its connection when nobody waits any more", async () => {
    let closed: () => void = () => {};
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    let arrived: () => void = () => {};
    const hasArrived = new Promise<void>((resolve) => (arrived = resolve));
    const port = await servers.http((request) => {
      request.socket.once("close", closed);
      arrived();
    });
    const subscription = httpProbe({ target: target(port), timeoutMs: 60_000 }, realClock).subscribe({
      next: () => {},
      error: () => {},
      complete: () => {},
    });
    await hasArrived;
    subscription.unsubscribe();
    await isClosed;
    expect(subscription.closed).toBe(true);
  });
});

describe("httpHook", () => {
  const servers = loopbackServers();
  const hook = (asked: HttpTarget) =>
    firstValueFrom(httpHook(asked, realClock)).catch((thrown: unknown) => toKubeletError(thrown).message);

  it("is delivered whatever the answer's status", async () => {
    const port = await servers.http((_, response) => response.writeHead(500).end());
    expect(await hook(target(port))).toEqual({ fellBack: false });
  });

  it("asks a server that only speaks HTTP once more, without credentials", async () => {
    const heads: (readonly string[])[] = [];
    const port = await servers.http((request, response) => {
      heads.push(requestHead(request));
      response.end();
    });
    const headers = [
      ["Authorization", "Bearer secret"],
      ["X-One", "1"],
    ] as const;
    expect(await hook(target(port, "/", { scheme: "https", headers }))).toEqual({ fellBack: true });
    expect(heads).toEqual([["GET /", `Host: ${LOOPBACK}:${port}`, "X-One: 1", "Connection: close"]]);
  });

  it("fails when nothing listens", async () => {
    const port = await servers.closedPort();
    expect(await hook(target(port))).toBe(
      `Get "http://${LOOPBACK}:${port}/": dial tcp ${LOOPBACK}:${port}: connect: connection refused`,
    );
  });
});
