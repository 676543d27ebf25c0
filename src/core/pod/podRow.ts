/**
 * A pod as a table row, with the columns and rules of `kubectl get pods`. Upstream: printPod of kubectl's printers.
 */
import type { ApiContainerStatus, Pod } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { parseInstant } from "../time/civilTime.ts";
import { isSidecar } from "./containers.ts";
import { humanDuration } from "./humanDuration.ts";

/** The cells of one pod. */
export interface PodRow {
  readonly namespace: string;
  readonly name: string;
  /** Ready containers of all that should run, including sidecars: `1/2`. */
  readonly ready: string;
  /** A single word, for example Running, Init:0/1, CrashLoopBackOff, Completed, Terminating. */
  readonly status: string;
  readonly restartCount: number;
  /** The count, with the age of the last restart: `3 (20s ago)`. */
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
}

/** Summary of a list of container statuses. */
interface Tally {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: EpochMs | undefined;
}

interface InitTally extends Tally {
  readonly initializing: boolean;
  readonly sidecarRestarts: number;
  readonly lastSidecarRestart: EpochMs | undefined;
}

const later = (a: EpochMs | undefined, b: EpochMs | undefined): EpochMs | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;

const lastRestartOf = (status: ApiContainerStatus): EpochMs | undefined =>
  parseInstant(status.lastState?.terminated?.finishedAt);

const isTrue = (pod: Pod, condition: string): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === condition && status === "True") ?? false;

/** Returns why a container terminated: its reason, else its signal, else its exit code. */
function endOf(terminated: { readonly reason?: string; readonly signal?: number; readonly exitCode: number }): string {
  if (terminated.reason !== undefined && terminated.reason !== "") return terminated.reason;
  return terminated.signal === undefined || terminated.signal === 0
    ? `ExitCode:${terminated.exitCode}`
    : `Signal:${terminated.signal}`;
}

function phaseReason(pod: Pod): string {
  const { phase = "", reason = "", conditions = [] } = pod.status ?? {};
  const gated = conditions.some((each) => each.type === "PodScheduled" && each.reason === "SchedulingGated");
  if (gated) return "SchedulingGated";
  return reason === "" ? phase : reason;
}

/** Returns why initialization has not passed this container; undefined when it has. */
function initBlock(status: ApiContainerStatus, isSidecar: boolean, index: number, total: number): string | undefined {
  const { terminated, waiting } = status.state ?? {};
  if (terminated?.exitCode === 0) return undefined;
  if (isSidecar && status.started === true) return undefined;
  if (terminated !== undefined) return `Init:${endOf(terminated)}`;
  const reason = waiting?.reason ?? "";
  return reason !== "" && reason !== "PodInitializing" ? `Init:${reason}` : `Init:${index}/${total}`;
}

function tallyInit(pod: Pod, sidecars: ReadonlySet<string>): InitTally {
  const total = pod.spec.initContainers?.length ?? 0;
  let tally: InitTally = {
    reason: phaseReason(pod),
    ready: 0,
    restarts: 0,
    lastRestart: undefined,
    initializing: false,
    sidecarRestarts: 0,
    lastSidecarRestart: undefined,
  };
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(status.name);
    const last = lastRestartOf(status);
    const block = initBlock(status, isSidecar, index, total);
    const isReady = block === undefined && isSidecar && status.state?.terminated === undefined && status.ready;
    tally = {
      ...tally,
      ready: tally.ready + (isReady ? 1 : 0),
      restarts: tally.restarts + status.restartCount,
      lastRestart: later(tally.lastRestart, last),
      sidecarRestarts: tally.sidecarRestarts + (isSidecar ? status.restartCount : 0),
      lastSidecarRestart: isSidecar ? later(tally.lastSidecarRestart, last) : tally.lastSidecarRestart,
    };
    if (block !== undefined) return { ...tally, reason: block, initializing: true };
  }
  return tally;
}

/** Tallies the regular containers last to first, so the first one in the spec determines the reason. */
function tallyRegular(pod: Pod, init: InitTally): Tally {
  let { reason, ready } = init;
  let restarts = init.sidecarRestarts;
  let lastRestart = init.lastSidecarRestart;
  let hasRunning = false;
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    const { waiting, terminated, running } = status.state ?? {};
    restarts += status.restartCount;
    lastRestart = later(lastRestart, lastRestartOf(status));
    if (waiting?.reason !== undefined && waiting.reason !== "") reason = waiting.reason;
    else if (terminated !== undefined) reason = endOf(terminated);
    else if (status.ready && running !== undefined) {
      hasRunning = true;
      ready += 1;
    }
  }
  if (reason === "Completed" && hasRunning) reason = isTrue(pod, "Ready") ? "Running" : "NotReady";
  return { reason, ready, restarts, lastRestart };
}

function statusWord(pod: Pod, reason: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  if (pod.status?.reason === "NodeLost") return "Unknown";
  const isTerminal = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  return isTerminal ? reason : "Terminating";
}

const ageOf = (since: EpochMs | undefined, now: EpochMs): string =>
  since === undefined ? "<unknown>" : humanDuration(now - since);

/** Returns the row of a pod at `now`. */
export function podRow(pod: Pod, now: EpochMs): PodRow {
  const inits = pod.spec.initContainers ?? [];
  const sidecars = new Set(inits.filter(isSidecar).map((each) => each.name));
  const init = tallyInit(pod, sidecars);
  const tally = !init.initializing || isTrue(pod, "Initialized") ? tallyRegular(pod, init) : init;
  const { restarts, lastRestart } = tally;
  const ip = pod.status?.podIPs?.[0]?.ip ?? "";
  return {
    namespace: pod.metadata.namespace,
    name: pod.metadata.name,
    ready: `${tally.ready}/${pod.spec.containers.length + sidecars.size}`,
    status: statusWord(pod, tally.reason),
    restartCount: restarts,
    restarts:
      restarts === 0 || lastRestart === undefined ? `${restarts}` : `${restarts} (${ageOf(lastRestart, now)} ago)`,
    // Differs from upstream: a static pod has no creation time outside the API, so use its start time.
    age: ageOf(parseInstant(pod.metadata.creationTimestamp ?? pod.status?.startTime), now),
    ip: ip === "" ? "<none>" : ip,
  };
}
