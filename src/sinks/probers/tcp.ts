/** TCP probes: connect and close. Bound: the timeout. Upstream: pkg/probe/tcp. */
import { connect, type LookupFunction, type TcpNetConnectOpts } from "node:net";
import { of } from "rxjs";
import type { ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { joinHostPort } from "../../core/probe/probeTarget.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import { orElse } from "../../operators/orElse.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TcpProbeRequest } from "../../ports/probers.ts";
import { dialError, dialTimeout } from "./netError.ts";

/** Runs one TCP probe; never errors. */
export function tcpProbe(
  { host, port, timeoutMs }: TcpProbeRequest,
  clock: Clock,
  lookup?: LookupFunction,
): Call<ProbeOutcome> {
  const address = joinHostPort(host, port);
  return fromCall((signal) => attempt({ host, port, ...(lookup && { lookup }) }, address, signal)).pipe(
    deadline(timeoutMs, clock),
    orElse(() => of<ProbeOutcome>({ result: "failure", output: dialTimeout(address) })),
  );
}

const attempt = (target: TcpNetConnectOpts, address: string, signal: AbortSignal): Promise<ProbeOutcome> =>
  new Promise<ProbeOutcome>((resolve) => {
    const socket = connect(target);
    const end = (outcome: ProbeOutcome): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once("connect", () => end({ result: "success", output: "" }));
    socket.on("error", (thrown) => end({ result: "failure", output: dialError(address, thrown) }));
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
  });
