/**
 * Probes and lifecycle hooks: one Call per attempt. Any response, also a failing one, is a value; an attempt that could
 * not be made is a KubeletError.
 */
import type { ContainerId } from "../core/ids.ts";
import type { HttpTarget } from "../core/probe/probeTarget.ts";
import type { ProbeOutcome } from "../core/probe/probeTypes.ts";
import type { Call } from "./call.ts";

export interface HttpProbeRequest {
  readonly target: HttpTarget;
  /** Bounds the whole attempt: connecting, redirects, body. */
  readonly timeoutMs: number;
}

export interface TcpProbeRequest {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export interface GrpcProbeRequest extends TcpProbeRequest {
  /** Empty checks the server as a whole. */
  readonly service: string;
}

export interface ExecProbeRequest {
  readonly containerId: ContainerId;
  readonly command: readonly string[];
  /** The command is killed after this time. */
  readonly timeoutMs: number;
}

/** Outcome of a hook's GET; any response counts as delivered. */
export interface HookAnswer {
  /** The server spoke plain HTTP where HTTPS was expected, so the request was repeated over HTTP. */
  readonly fellBack: boolean;
}

export interface Probers {
  /** Sends one GET; 200 to 399 is a success, a redirect to another host is a success with a warning. */
  http(request: HttpProbeRequest): Call<ProbeOutcome>;
  /** Opens a connection and closes it. */
  tcp(request: TcpProbeRequest): Call<ProbeOutcome>;
  /** Calls `grpc.health.v1.Health/Check`; SERVING is a success. */
  grpc(request: GrpcProbeRequest): Call<ProbeOutcome>;
  /** Runs a command in the container; exit code 0 is a success. Queues when too many commands run already. */
  exec(request: ExecProbeRequest): Call<ProbeOutcome>;
  /** Sends the GET of a lifecycle hook; a response with any status counts as delivered. Has no timeout of its own. */
  httpHook(target: HttpTarget): Call<HookAnswer>;
}
