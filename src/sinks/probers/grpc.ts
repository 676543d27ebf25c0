/**
 * gRPC probes: `grpc.health.v1.Health/Check` on a new channel, without TLS. Bound: the timeout covers connecting and
 * the call. Upstream: pkg/probe/grpc.
 */
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { formatDuration } from "../../core/config/duration.ts";
import type { ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { PROBER_VERSION } from "../../core/probe/probeTypes.ts";
import { joinHostPort } from "../../core/probe/probeTarget.ts";
import { grpcOutcome } from "../../core/probe/serverAnswers.ts";
import { HealthCheckRequest, HealthCheckResponse, HealthCheckResponse_ServingStatus } from "../../gen/health.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GrpcProbeRequest } from "../../ports/probers.ts";

const CHECK = "/grpc.health.v1.Health/Check";

const OPTIONS = {
  "grpc.primary_user_agent": `kube-probe/${PROBER_VERSION}`,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.service_config_disable_resolution": 1,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
} as const;

const failure = (output: string): ProbeOutcome => ({ result: "failure", output });

/** Runs one gRPC probe; never errors. */
export function grpcProbe(request: GrpcProbeRequest, clock: Clock): Call<ProbeOutcome> {
  return fromCall(async (signal): Promise<ProbeOutcome> => {
    const { host, port, service, timeoutMs } = request;
    const address = joinHostPort(host, port);
    const client = new Client(address, credentials.createInsecure(), OPTIONS);
    signal.addEventListener("abort", () => client.close(), { once: true });
    // gRPC converts the instant back to a duration immediately, so a later step of the wall clock is harmless.
    const deadline = clock.wallTime() + timeoutMs;
    try {
      if (!(await connected(client, deadline))) {
        const within = formatDuration(timeoutMs);
        return failure(`timeout: failed to connect service "${address}" within ${within}: context deadline exceeded`);
      }
      return await check(client, { service, deadline, timeoutMs, signal });
    } finally {
      client.close();
    }
  });
}

const connected = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)));

interface HealthCheck {
  readonly service: string;
  /** Wall time, in milliseconds. */
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Cancels an aborted check explicitly, because closing a channel does not end its calls. */
function check(client: Client, { service, deadline, timeoutMs, signal }: HealthCheck): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const call = client.makeUnaryRequest(
      CHECK,
      (message: HealthCheckRequest) => Buffer.from(HealthCheckRequest.encode(message).finish()),
      (bytes: Buffer) => HealthCheckResponse.decode(bytes),
      { service },
      { deadline },
      (error, answer) => resolve(error === null ? answered(answer) : refused(error, timeoutMs)),
    );
    signal.addEventListener("abort", () => call.cancel(), { once: true });
  });
}

function answered(answer: HealthCheckResponse | undefined): ProbeOutcome {
  const serving = answer?.status ?? HealthCheckResponse_ServingStatus.UNKNOWN;
  const name = Object.entries(HealthCheckResponse_ServingStatus).find(([, number]) => number === serving)?.[0];
  return grpcOutcome(name ?? String(serving));
}

function refused({ code, details }: ServiceError, timeoutMs: number): ProbeOutcome {
  switch (code) {
    case status.UNIMPLEMENTED:
      return failure(
        `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`,
      );
    case status.DEADLINE_EXCEEDED:
      return failure(`timeout: health rpc did not complete within ${formatDuration(timeoutMs)}`);
    default:
      return failure(`error: health rpc probe failed: rpc error: code = ${goName(code)} desc = ${details}`);
  }
}

/** Converts `NOT_FOUND` to Go's spelling, `NotFound`. */
const goName = (code: number): string =>
  (status[code] ?? String(code))
    .toLowerCase()
    .replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
    .replace(/^Ok$/, "OK");
