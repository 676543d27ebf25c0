/**
 * The probers port in virtual time: commands run in the simulated runtime as in production; a function, by default
 * success, answers for the network. Observes every answer. Stateless.
 */
import { concat, defer, ignoreElements, type Observable, of, tap } from "rxjs";
import type { Container } from "../core/api.ts";
import { formatDuration } from "../core/config/duration.ts";
import type { Probe, ProbeOutcome } from "../core/probe/probeTypes.ts";
import type { Clock } from "../ports/clock.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { Probers } from "../ports/probers.ts";
import { createExecProbe } from "../sinks/probers/exec.ts";
import { dialTimeout } from "../sinks/probers/netError.ts";
import { later } from "./runtime/simCall.ts";
import type { SimRuntime } from "./runtime/simRuntime.ts";

/** Answers a probe of a network address. */
export interface SimAnswer extends ProbeOutcome {
  readonly afterMs: number;
}

/** The URL: `http://10.1.0.2:8080/healthz`, `tcp://10.1.0.2:80`, `grpc://10.1.0.2:90/service`. */
export type SimAnswers = (url: string) => SimAnswer;

/** An answered probe, inside a container or of an address. */
export interface SimProbeAnswer {
  readonly containerId?: string;
  readonly host?: string;
  /** See `askedOf`. */
  readonly asked: string;
  readonly result: ProbeOutcome["result"];
}

export interface SimProbersOptions {
  readonly clock: Clock;
  readonly runtime: Pick<RuntimeService, "execSync">;
  readonly answers?: SimAnswers | undefined;
  readonly onAnswer?: (answer: SimProbeAnswer) => void;
}

/** Formats the target of a probe: `exec up`, `http :8080/ready`, `tcp :8080`, `grpc :90/service`. */
export function askedOf({ exec, httpGet, tcpSocket, grpc }: Probe, { ports = [] }: Container): string {
  const numberOf = (port: unknown): unknown => ports.find(({ name }) => name === port)?.containerPort ?? port;
  if (exec !== undefined) return `exec ${(exec.command ?? []).join(" ")}`;
  if (httpGet !== undefined) return `http :${String(numberOf(httpGet.port))}${httpGet.path ?? "/"}`;
  if (tcpSocket !== undefined) return `tcp :${String(numberOf(tcpSocket.port))}`;
  return `grpc :${grpc?.port}/${grpc?.service ?? ""}`;
}

/** A network on which every probe succeeds. */
export const YES: SimAnswers = () => ({ result: "success", output: "", afterMs: 1 });

/** Longer than the timeout of any probe. */
const SILENCE: SimAnswer = { result: "failure", output: "", afterMs: 600_000 };

/** Address pattern of probes: the simulated network only has IPv4. */
const HOST = /^\w+:\/\/([^:/]*)/;

/** Wraps a network so that addresses of removed sandboxes do not answer. Bound: one entry per address. */
export function ofTheLiving(answers: SimAnswers, runtime: Pick<SimRuntime, "sandboxes">): SimAnswers {
  const given = new Set<string>();
  return (url) => {
    const [, host = ""] = HOST.exec(url) ?? [];
    const isHere = runtime.sandboxes().some(({ ip }) => ip === host);
    if (isHere) given.add(host);
    return isHere || !given.has(host) ? answers(url) : SILENCE;
  };
}

/** Returns the timeout error with the wording of production. */
function lateText(url: string, timeoutMs: number): string {
  const [scheme, address = ""] = url.split("://");
  if (scheme === "tcp") return dialTimeout(address);
  if (scheme === "grpc") return `timeout: health rpc did not complete within ${formatDuration(timeoutMs)}`;
  const waited = "(Client.Timeout exceeded while awaiting headers)";
  return `Get ${JSON.stringify(url)}: context deadline exceeded ${waited}`;
}

/** Creates the probers of a simulated node. */
export function createSimProbers({ clock, runtime, answers = YES, onAnswer }: SimProbersOptions): Probers {
  const reported = (asked: Omit<SimProbeAnswer, "result">) =>
    tap<ProbeOutcome>(({ result }) => onAnswer?.({ ...asked, result }));
  const exec = createExecProbe(runtime);
  const ask = (url: string, timeoutMs: number): Observable<ProbeOutcome> =>
    defer(() => {
      const { result, output, afterMs } = answers(url);
      return afterMs < timeoutMs
        ? later(clock, afterMs, () => ({ result, output }))
        : later(clock, timeoutMs, () => ({ result: "failure" as const, output: lateText(url, timeoutMs) }));
    });
  return {
    http: ({ target: { scheme, host, port, path }, timeoutMs }) =>
      ask(`${scheme}://${host}:${port}${path}`, timeoutMs).pipe(reported({ host, asked: `http :${port}${path}` })),
    tcp: ({ host, port, timeoutMs }) =>
      ask(`tcp://${host}:${port}`, timeoutMs).pipe(reported({ host, asked: `tcp :${port}` })),
    grpc: ({ host, port, service, timeoutMs }) =>
      ask(`grpc://${host}:${port}/${service}`, timeoutMs).pipe(reported({ host, asked: `grpc :${port}/${service}` })),
    exec: (request) =>
      exec(request).pipe(reported({ containerId: request.containerId, asked: `exec ${request.command.join(" ")}` })),
    httpHook: ({ scheme, host, port, path }) =>
      concat(ask(`${scheme}://${host}:${port}${path}`, Infinity).pipe(ignoreElements()), of({ fellBack: false })),
  };
}
