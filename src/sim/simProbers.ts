/**
 * The probers port in virtual time: commands go to the simulated runtime as they do in production, the network answers
 * what a function says, by default yes. Keeps nothing.
 */
import { concat, defer, ignoreElements, type Observable, of } from "rxjs";
import type { ProbeOutcome } from "../core/probe/probeTypes.ts";
import { deadline } from "../operators/deadline.ts";
import type { Clock } from "../ports/clock.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { Probers } from "../ports/probers.ts";
import { createExecProbe } from "../sinks/probers/exec.ts";
import { later } from "./simCall.ts";

/** How something on the network answers. */
export interface SimAnswer extends ProbeOutcome {
  readonly afterMs: number;
}

/** What is asked: `http://10.1.0.2:8080/healthz`, `tcp://10.1.0.2:80`, `grpc://10.1.0.2:90/service`. */
export type SimAnswers = (url: string) => SimAnswer;

export interface SimProbersOptions {
  readonly clock: Clock;
  readonly runtime: Pick<RuntimeService, "execSync">;
  readonly answers?: SimAnswers;
}

const YES: SimAnswer = { result: "success", output: "", afterMs: 1 };

/** Probers of a simulated node. */
export function createSimProbers({ clock, runtime, answers = () => YES }: SimProbersOptions): Probers {
  const ask = (url: string): Observable<ProbeOutcome> =>
    defer(() => {
      const { result, output, afterMs } = answers(url);
      return later(clock, afterMs, () => ({ result, output }));
    });
  return {
    http: ({ target: { scheme, host, port, path }, timeoutMs }) =>
      ask(`${scheme}://${host}:${port}${path}`).pipe(deadline(timeoutMs, clock)),
    tcp: ({ host, port, timeoutMs }) => ask(`tcp://${host}:${port}`).pipe(deadline(timeoutMs, clock)),
    grpc: ({ host, port, service, timeoutMs }) =>
      ask(`grpc://${host}:${port}/${service}`).pipe(deadline(timeoutMs, clock)),
    exec: createExecProbe(runtime),
    httpHook: ({ scheme, host, port, path }) =>
      concat(ask(`${scheme}://${host}:${port}${path}`).pipe(ignoreElements()), of({ fellBack: false })),
  };
}
