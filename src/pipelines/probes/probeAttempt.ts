/** An attempt of a probe: from its manifest to a call of the probers port. Upstream: prober.go runProbe. */
import { defer, type Observable, retry, throwError } from "rxjs";
import type { Container } from "../../core/api.ts";
import { textBudget } from "../../core/container/textBudget.ts";
import { kubeletError, toKubeletError, withReason } from "../../core/errors.ts";
import type { ContainerId } from "../../core/ids.ts";
import { httpTarget, resolvePort } from "../../core/probe/probeTarget.ts";
import { type Probe, PROBER_VERSION, type ProbeOutcome } from "../../core/probe/probeTypes.ts";
import type { Call } from "../../ports/call.ts";
import type { Probers } from "../../ports/probers.ts";

export interface ProbeAttempt {
  readonly probe: Probe;
  readonly container: Container;
  readonly containerId: ContainerId;
  /**
   * Undefined while the pod has no address: then only probes with a host of their own, or without a host, can run.
   */
  readonly podIp: string | undefined;
}

/** Number of immediate retries of attempts that could not be made. */
const REPEATS = 2;

/** Makes an attempt; emits the outcome, or errors with a KubeletError if the attempt could not be made. */
export const attemptProbe = (attempt: ProbeAttempt, probers: Probers): Observable<ProbeOutcome> =>
  defer(() => callOf(attempt, probers)).pipe(
    retry({
      delay: (thrown: unknown, failures) =>
        failures > REPEATS || !toKubeletError(thrown).retryable ? throwError(() => thrown) : [0],
    }),
  );

function callOf({ probe, container, containerId, podIp }: ProbeAttempt, probers: Probers): Call<ProbeOutcome> {
  const timeoutMs = Math.max(1, probe.timeoutSeconds ?? 1) * 1000;
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) {
    const command = expandedCommand(exec.command ?? [], container);
    return probers.exec({ containerId, command, timeoutMs });
  }
  if (httpGet !== undefined) {
    const host = httpGet.host || addressOf(podIp);
    const target = httpTarget(httpGet, container, host, `kube-probe/${PROBER_VERSION}`);
    if (!target.ok) throw target.error;
    return probers.http({ target: target.value, timeoutMs });
  }
  if (tcpSocket !== undefined) {
    const port = resolvePort(tcpSocket.port, container);
    if (!port.ok) throw port.error;
    return probers.tcp({ host: tcpSocket.host || addressOf(podIp), port: port.value, timeoutMs });
  }
  if (grpc !== undefined) {
    return probers.grpc({ host: addressOf(podIp), port: grpc.port, service: grpc.service ?? "", timeoutMs });
  }
  throw kubeletError("InvalidArgument", `missing probe handler for container ${container.name}`);
}

/** Without an address a connection would go to the node itself. */
function addressOf(podIp: string | undefined): string {
  if (podIp !== undefined && podIp !== "") return podIp;
  throw kubeletError("InvalidArgument", "the pod has no IP address yet");
}

/** Expands only variables with a value in the manifest: others count as empty. */
function expandedCommand(words: readonly string[], { name: container, env = [] }: Container): readonly string[] {
  const values = new Map(env.map(({ name, value }) => [name, value ?? ""]));
  const budget = textBudget(container, "the command of a probe");
  return words.map((word, index) => {
    const expanded = budget.expand(`exec.command[${index}]`, word, (name) => values.get(name));
    if (!expanded.ok) throw withReason(expanded.error, "InvalidArgument");
    return expanded.value;
  });
}
