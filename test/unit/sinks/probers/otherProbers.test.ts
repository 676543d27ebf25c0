import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall, status } from "@grpc/grpc-js";
import { firstValueFrom } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { containerId } from "../../../../src/core/ids.ts";
import { kubeletError, toKubeletError } from "../../../../src/core/errors.ts";
import { HealthCheckRequest, HealthCheckResponse } from "../../../../src/gen/health.ts";
import type * as cri from "../../../../src/gen/cri.ts";
import type { Call, CallOptions } from "../../../../src/ports/call.ts";
import { createExecProbe } from "../../../../src/sinks/probers/exec.ts";
import { grpcProbe } from "../../../../src/sinks/probers/grpc.ts";
import { tcpProbe } from "../../../../src/sinks/probers/tcp.ts";
import { LOOPBACK, loopbackServers } from "../../../support/loopbackServer.ts";
import { marbles } from "../../../support/marbles.ts";
import { realClock } from "../../../support/realClock.ts";

describe("tcpProbe", () => {
  const servers = loopbackServers();
  const probe = (port: number, host = LOOPBACK) =>
    firstValueFrom(tcpProbe({ host, port, timeoutMs: 2_000 }, realClock));

  it("succeeds when the connection is made, and closes it", async () => {
    let ended: () => void = () => {};
    const isEnded = new Promise<void>((resolve) => (ended = resolve));
    const port = await servers.tcp((socket) => socket.on("close", ended).resume());
    expect(await probe(port)).toEqual({ result: "success", output: "" });
    await isEnded;
  });

  it("fails when nothing listens", async () => {
    const port = await servers.closedPort();
    expect(await probe(port)).toEqual({
      result: "failure",
      output: `dial tcp ${LOOPBACK}:${port}: connect: connection refused`,
    });
  });

  it("fails for a name nobody knows", async () => {
    expect(await probe(80, "nobody.invalid")).toMatchObject({
      result: "failure",
      output: expect.stringMatching(/^dial tcp: lookup nobody\.invalid: (no such host|server misbehaving)$/),
    });
  });
});

type Check = (
  call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
  answer: sendUnaryData<HealthCheckResponse>,
) => void;

describe("grpcProbe", () => {
  const running: Server[] = [];
  afterEach(() => {
    for (const server of running.splice(0)) server.forceShutdown();
  });
  const servers = loopbackServers();

  async function health(check?: Check): Promise<number> {
    const server = new Server();
    running.push(server);
    const method = {
      path: "/grpc.health.v1.Health/Check",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: HealthCheckRequest) => Buffer.from(HealthCheckRequest.encode(message).finish()),
      requestDeserialize: (bytes: Buffer) => HealthCheckRequest.decode(bytes),
      responseSerialize: (message: HealthCheckResponse) => Buffer.from(HealthCheckResponse.encode(message).finish()),
      responseDeserialize: (bytes: Buffer) => HealthCheckResponse.decode(bytes),
    };
    if (check !== undefined) server.addService({ check: method }, { check });
    return new Promise((resolve, reject) => {
      server.bindAsync(`${LOOPBACK}:0`, ServerCredentials.createInsecure(), (failure, port) =>
        failure === null ? resolve(port) : reject(failure),
      );
    });
  }
  const probe = (port: number, service = "", timeoutMs = 5_000) =>
    firstValueFrom(grpcProbe({ host: LOOPBACK, port, service, timeoutMs }, realClock));

  it("asks for the service, says who asks, and takes SERVING as a success", async () => {
    const seen: unknown[] = [];
    const port = await health(({ request, metadata }, answer) => {
      seen.push(request, String(metadata.get("user-agent")[0]).split(" ")[0]);
      answer(null, { status: 1 });
    });
    expect(await probe(port, "db")).toEqual({ result: "success", output: "service healthy" });
    expect(seen).toEqual([{ service: "db" }, "kube-probe/1.36"]);
  });

  it("takes every other status as a failure", async () => {
    const port = await health((_, answer) => answer(null, { status: 2 }));
    expect(await probe(port)).toEqual({
      result: "failure",
      output: 'service unhealthy (responded with "NOT_SERVING")',
    });
  });

  it("fails with the server's words when the server knows no such service", async () => {
    const unknown = await health((_, answer) => answer({ code: status.NOT_FOUND, details: "unknown service" }));
    expect(await probe(unknown, "nope")).toEqual({
      result: "failure",
      output: "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
    });
  });

  it("fails against a server without a health service", async () => {
    expect(await probe(await health())).toEqual({
      result: "failure",
      output: expect.stringContaining(
        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ",
      ),
    });
  });

  it("ends its call at the server when it is unsubscribed", async () => {
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const port = await health((call) => {
      call.on("cancelled", () => ended.resolve());
      asked.resolve();
    });
    const running = grpcProbe({ host: LOOPBACK, port, service: "", timeoutMs: 60_000 }, realClock).subscribe();
    await asked.promise;
    running.unsubscribe();
    await ended.promise;
  });

  it("fails when nobody answers in time, connecting or asking", async () => {
    const closed = await servers.closedPort();
    const silent = await health(() => {});
    expect([await probe(closed, "", 100), await probe(silent, "", 100)]).toEqual([
      {
        result: "failure",
        output: `timeout: failed to connect service "${LOOPBACK}:${closed}" within 100ms: context deadline exceeded`,
      },
      { result: "failure", output: "timeout: health rpc did not complete within 100ms" },
    ]);
  });
});

const ID = containerId("c1");
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const answerOf = (exitCode: number, stdout = "", stderr = ""): cri.ExecSyncResponse => ({
  exitCode,
  stdout: bytes(stdout),
  stderr: bytes(stderr),
});

describe("createExecProbe", () => {
  const runtimeOf = (call: (request: cri.ExecSyncRequest, options?: CallOptions) => Call<cri.ExecSyncResponse>) => ({
    execSync: call,
  });

  it(
    "asks the runtime to end the command at the timeout, and waits a little longer itself",
    marbles(({ cold, expectObservable, flush }) => {
      const call = "    --(a|)";
      const expected = "--(o|)";

      const asked: unknown[] = [];
      const probe = createExecProbe(
        runtimeOf((request, options) => {
          asked.push(request, options);
          return cold(call, { a: answerOf(0, "out", "err") });
        }),
      );
      const outcome$ = probe({ containerId: ID, command: ["test", "-f"], timeoutMs: 3_000 });
      expectObservable(outcome$).toBe(expected, { o: { result: "success", output: "outerr" } });
      flush();
      expect(asked).toEqual([{ containerId: "c1", cmd: ["test", "-f"], timeout: 3n }, { deadlineMs: 8_000 }]);
    }),
  );

  it(
    "takes any other exit code as a failure and keeps 10 KiB of both streams",
    marbles(({ cold, expectObservable }) => {
      const call = "    (a|)";
      const expected = "(o|)";

      const answer = answerOf(1, "o".repeat(10_000), "e".repeat(10_000));
      const probe = createExecProbe(runtimeOf(() => cold(call, { a: answer })));
      expectObservable(probe({ containerId: ID, command: ["false"], timeoutMs: 1_000 })).toBe(expected, {
        o: { result: "failure", output: "o".repeat(10_000) + "e".repeat(240) },
      });
    }),
  );

  it.each([
    ["nothing", ""],
    ["blanks", " \n"],
  ])("says so when a failed command printed %s", (_what, printed) => {
    marbles(({ cold, expectObservable }) => {
      const call = "    (a|)";
      const expected = "(o|)";

      const probe = createExecProbe(runtimeOf(() => cold(call, { a: answerOf(3, printed) })));
      expectObservable(probe({ containerId: ID, command: ["false"], timeoutMs: 1_000 })).toBe(expected, {
        o: { result: "failure", output: "command exited with code 3 and printed nothing" },
      });
    })();
  });

  it(
    "takes the runtime's timeout as a failure",
    marbles(({ cold, expectObservable }) => {
      const call = "    --#";
      const expected = "--(o|)";

      const late = kubeletError("DeadlineExceeded", "exec timed out");
      const probe = createExecProbe(runtimeOf(() => cold(call, {}, late)));
      expectObservable(probe({ containerId: ID, command: ["sleep", "9"], timeoutMs: 1_000 })).toBe(expected, {
        o: { result: "failure", output: 'command timed out: "sleep 9" timed out after 1s' },
      });
    }),
  );

  it(
    "passes on the error of a command that cannot run",
    marbles(({ cold, expectObservable }) => {
      const call = "    --#";
      const expected = "--#";

      const gone = kubeletError("NotFound", "no such container");
      const probe = createExecProbe(runtimeOf(() => cold(call, {}, gone)));
      const outcome$ = probe({ containerId: ID, command: ["sleep", "9"], timeoutMs: 1_000 });
      expectObservable(outcome$).toBe(expected, {}, toKubeletError(gone));
    }),
  );

  it(
    "runs only so many commands at once; the rest wait their turn",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = "          ---(a|)";
      const firstCallSubs = " ^--!";
      const secondCallSubs = "^--!";
      const thirdCallSubs = " ---^--!";
      const firstExpected = " ---(o|)";
      const secondExpected = "---(o|)";
      const thirdExpected = " ------(o|)";

      const call$ = cold(call, { a: answerOf(0) });
      const probe = createExecProbe(
        runtimeOf(() => call$),
        2,
      );
      const request = { containerId: ID, command: ["true"], timeoutMs: 1_000 };
      const yes = { o: { result: "success", output: "" } };
      expectObservable(probe(request)).toBe(firstExpected, yes);
      expectObservable(probe(request)).toBe(secondExpected, yes);
      expectObservable(probe(request)).toBe(thirdExpected, yes);
      expectSubscriptions(call$).toBe(firstCallSubs, secondCallSubs, thirdCallSubs);
    }),
  );
});
