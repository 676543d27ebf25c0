/**
 * Probes and lifecycle hooks as seen from the kubelet: one Call per attempt. An answer, also a bad one, is a value; an
 * attempt that could not be made is a KubeletError.
 */
import type { ContainerId } from "../core/ids.ts";
import type { HttpTarget } from "../core/probe/probeTarget.ts";
import type { ProbeOutcome } from "../core/probe/probeTypes.ts";
import type { Call } from "./call.ts";

export interface HttpProbeRequest {
  readonly target: HttpTarget;
  /** Over the whole attempt: connecting, redirects, body. */
  readonly timeoutMs: number;
}

export interface TcpProbeRequest {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export interface GrpcProbeRequest extends TcpProbeRequest {
  /** Empty asks for the server as a whole. */
  readonly service: string;
}

export interface ExecProbeRequest {
  readonly containerId: ContainerId;
  readonly command: readonly string[];
  /** The command is killed after it. */
  readonly timeoutMs: number;
}

/** How the GET of a hook ended: with any answer at all. */
export interface HookAnswer {
  /** The server spoke plain HTTP where HTTPS was wanted, and was asked again that way. */
  readonly fellBack: boolean;
}

export interface Probers {
  /** One GET; 200 to 399 is a success, a redirect to another host one with a warning. */
  http(request: HttpProbeRequest): Call<ProbeOutcome>;
  /** Connects and closes. */
  tcp(request: TcpProbeRequest): Call<ProbeOutcome>;
  /** `grpc.health.v1.Health/Check`; SERVING is a success. */
  grpc(request: GrpcProbeRequest): Call<ProbeOutcome>;
  /** Runs a command inside; exit code 0 is a success. Waits for its turn when too many run already. */
  exec(request: ExecProbeRequest): Call<ProbeOutcome>;
  /** The GET of a lifecycle hook: whatever the answer's status, it was delivered. Without a timeout of its own. */
  httpHook(target: HttpTarget): Call<HookAnswer>;
}
