/**
 * The trace of a simulated node: one line per observation, and a fingerprint of all lines ever written. Omits reads
 * of the runtime, its Status answers, measurements, leases and successful probes. Bound: the last `maxLines` lines and an eighth
 * more.
 */
import type { PodStatus } from "../core/api.ts";
import type { CriRpc } from "../core/criOperations.ts";
import { podContainerStatuses } from "../core/pod/containers.ts";
import { unreachable } from "../core/invariant.ts";
import type { SimObservation } from "./simObservation.ts";

export interface SimTrace {
  /** Oldest first. */
  readonly lines: readonly string[];
  /** Lines written so far, including dropped ones. */
  readonly length: number;
  /** Fingerprint of all lines so far, 16 hex digits: equal runs have equal fingerprints. */
  readonly fingerprint: string;
  write(observation: SimObservation): void;
}

/** Read-only requests. */
export const READS: ReadonlySet<CriRpc> = new Set<CriRpc>([
  "Version",
  "Status",
  "RuntimeConfig",
  "PodSandboxStatus",
  "ListPodSandbox",
  "ContainerStatus",
  "ListContainers",
  "ImageStatus",
  "ListImages",
  "ImageFsInfo",
]);

const UNWRITTEN: ReadonlySet<SimObservation["kind"]> = new Set([
  "lease",
  "runtimeSays",
  "measured",
  "written",
  "boot",
] as const);

/** Creates an empty trace. */
export function createSimTrace(maxLines = 1_000_000): SimTrace {
  const lines: string[] = [];
  let length = 0;
  let [high, low] = [0x811c9dc5, 0x2545f491];
  return {
    lines,
    get length() {
      return length;
    },
    get fingerprint() {
      return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
    },
    write(observation) {
      if (observation.kind === "call" && observation.fate === "proceed" && READS.has(observation.rpc)) return;
      if (observation.kind === "probe" && observation.result === "success") return;
      if (UNWRITTEN.has(observation.kind)) return;
      const line = traceLine(observation);
      length += 1;
      lines.push(line);
      if (lines.length > maxLines + (maxLines >> 3)) lines.splice(0, lines.length - maxLines);
      for (let index = 0; index < line.length; index += 1) {
        const code = line.charCodeAt(index);
        high = Math.imul(high ^ code, 0x01000193);
        low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 15);
      }
      high = Math.imul(high ^ 10, 0x01000193);
    },
  };
}

/** Formats one observation: seconds, kind, subject, details. */
export function traceLine(observation: SimObservation): string {
  const at = (observation.atMs / 1000).toFixed(3).padStart(11);
  // Concatenate: a template would keep all its pieces alive.
  return [`${at} `, observation.kind.padEnd(7), textOf(observation)].join(" ");
}

function textOf(observation: SimObservation): string {
  switch (observation.kind) {
    case "call": {
      const { rpc, subject, fate, graceSeconds } = observation;
      const grace = graceSeconds === undefined ? "" : ` within ${graceSeconds} s`;
      return `${subject === "" ? "-" : subject} ${rpc}${grace}${fate === "proceed" ? "" : ` (${fate})`}`;
    }
    case "change": {
      const { kind, name, id, exitCode } = observation.change;
      return `${name} ${kind} ${id.slice(0, 13)}${exitCode === undefined ? "" : ` code ${exitCode}`}`;
    }
    case "event": {
      const { type, reason, message, object } = observation.event;
      return `${object.namespace}/${object.name} ${type} ${reason}: ${message}`;
    }
    case "status":
      return `${observation.subject} ${observation.after === undefined ? "gone" : statusText(observation.after)}`;
    case "wanted":
      return `${observation.source}: ${observation.podUids.size} pods`;
    case "object": {
      const { subject, what, object } = observation;
      return `${subject} ${what} ${object.metadata?.uid} ${statusText(object.status ?? {})}`;
    }
    case "request":
      return `${observation.subject} ${observation.verb}`;
    case "removed":
      return `${observation.what} of pod ${observation.podUid}`;
    case "probe":
      return `${observation.asked} of pod ${observation.podUid}: ${observation.result}`;
    case "apiServer":
      return observation.isUp ? "up" : "away";
    case "lease":
      return `for ${observation.durationSeconds} s`;
    case "nodeReady":
      return `${observation.status}: ${observation.message}`;
    case "runtimeSays":
      return observation.isReady === undefined ? "nothing" : observation.isReady ? "ready" : "not ready";
    case "shutdown":
      return observation.what;
    case "boot":
      return "";
    case "plugin":
      return `${observation.resource} ${observation.what} ${observation.ids.join(",")}`;
    case "driver":
      return `${observation.driver} ${observation.rpc} ${observation.what} ${observation.claims.join(",")}`;
    case "csi":
      return `${observation.driver} ${observation.rpc} ${observation.what} #${observation.call} ${observation.volume} ${observation.path}${observation.bytes === undefined ? "" : ` ${observation.bytes}`}`;
    case "device":
      return `${observation.what} ${observation.path}`;
    case "inUse":
      return observation.volumes.join(",");
    case "claim":
      return `${observation.name} ${observation.uid} of ${observation.drivers.join(",")} for ${observation.podUids.join(",")}`;
    case "measured":
      return observation.measurement.what;
    case "written":
      return `${observation.bytes} bytes, ${observation.inodes} inodes in ${observation.path}`;
    case "clock":
      return `steps by ${observation.stepMs / 1000} s`;
    case "kubelet":
      return "reason" in observation ? `${observation.what}: ${observation.reason}` : observation.what;
    case "kernel":
    case "action":
      return observation.text;
    default:
      return unreachable(observation);
  }
}

/** Formats a status: phase, then each container with state and restarts. */
function statusText(status: PodStatus): string {
  const { phase, reason } = status;
  const containers = podContainerStatuses(status).map(({ name, state, ready, restartCount }) => {
    const { running, terminated, waiting } = state ?? {};
    const word =
      running !== undefined
        ? "running"
        : terminated !== undefined
          ? `${terminated.reason ?? "terminated"}(${terminated.exitCode})`
          : (waiting?.reason ?? "waiting");
    return `${name}=${word}${ready ? "+" : ""}#${restartCount}`;
  });
  return [phase ?? "-", ...(reason === undefined ? [] : [`(${reason})`]), ...containers].join(" ");
}
