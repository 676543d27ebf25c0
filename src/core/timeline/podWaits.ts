/** Derives a pod's current waits, and the event that ends each, when a timeline is read; no wait is stored. */
import { namesText } from "../admission/leavingPods.ts";
import type { ApiContainerStatus, Pod } from "../api.ts";
import { parseImageRef } from "../image/imageRef.ts";
import type { MonotonicMs } from "../ids.ts";
import { allContainers, isSidecar, podContainerStatuses } from "../pod/containers.ts";
import type { RollbackView } from "../rollback/rollback.ts";
import { parseInstant } from "../time/civilTime.ts";
import { IMAGE_PULL } from "./advanceTimeline.ts";
import type { PodVolumes } from "../volume/podVolumes.ts";
import type { Instant, PodTimeline, PodWait, StageUnderWay } from "./timelineTypes.ts";
import { volumeWaits } from "./volumeWaits.ts";
import { findNamed } from "../findNamed.ts";

/** An image in the pull queue. */
export interface PullInLine {
  readonly image: string;
  readonly askedAt: MonotonicMs;
  /** Undefined while it is queued. */
  readonly startedAt: MonotonicMs | undefined;
}

/** Node-wide activity that pods may wait for. */
export interface NodeBusiness {
  readonly now: Instant;
  readonly pulls: readonly PullInLine[];
  /** Why the runtime is not usable now; empty when it is. */
  readonly runtimeProblems: readonly string[];
  /** The volumes of the pod. */
  readonly volumes: PodVolumes;
  /** Trial of the pod's manifest, or the reason why its last good version runs. */
  readonly rollback?: RollbackView | undefined;
}

/** Returns the waits of a pod, those that block the rest first. Empty when the pod runs or has ended. */
export function podWaits(timeline: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  if (timeline.state === "gone" || timeline.state === "rejected") return [];
  return [
    ...startWait(timeline, node),
    ...runtimeWait(timeline, node),
    ...volumeWaits(timeline, node.volumes),
    ...[...timeline.underWay.values()].map((underWay) => stageWait(timeline, underWay, node)),
    ...failureWaits(timeline, node),
    ...roundWait(timeline, node),
    ...statusWaits(timeline, node),
    ...sidecarStops(timeline),
    ...rollbackWait(node),
  ];
}

function rollbackWait({ rollback }: NodeBusiness): readonly PodWait[] {
  if (rollback === undefined) return [];
  const { cause, dueAt: at } = rollback;
  return [
    { what: "Rollback", cause, forMs: undefined, ...(at === undefined ? {} : { next: { what: "rollback", at } }) },
  ];
}

const lasting = ({ now }: NodeBusiness, since: Instant): number => now.mono - since.mono;

function startWait(timeline: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  if (timeline.state !== "waiting") return [];
  const { behind, awaited, since } = timeline;
  const forMs = lasting(node, since);
  if (behind !== undefined) {
    return [{ what: "PodName", cause: `the pod of the same name with UID ${behind} has not terminated`, forMs }];
  }
  if (awaited === undefined) return [{ what: "PodName", cause: "not accepted yet", forMs }];
  const { pods, isPreempted, due, plugin } = awaited;
  if (plugin !== undefined) {
    return [{ what: "Devices", cause: plugin, forMs, ...(due === undefined ? {} : { next: due }) }];
  }
  if (pods.length === 0) {
    return [{ what: "Resources", cause: "another pod shrinks, and its new size is not on disk yet", forMs }];
  }
  const are = `${namesText(pods)} ${pods.length === 1 ? "is" : "are"}`;
  const cause = isPreempted ? `${are} stopped to free resources` : `${are} leaving the node and will free resources`;
  const what = isPreempted ? "Preemption" : "Resources";
  return [{ what, cause, ahead: pods, forMs, ...(due === undefined ? {} : { next: due }) }];
}

function runtimeWait({ state }: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  if (node.runtimeProblems.length === 0 || state === "waiting" || state === "terminated") return [];
  return [{ what: "Runtime", cause: node.runtimeProblems.join("; "), forMs: undefined }];
}

function stageWait({ pod }: PodTimeline, { stage, since }: StageUnderWay, node: NodeBusiness): PodWait {
  const { name, container, due } = stage;
  return {
    what: name,
    ...(container === undefined ? {} : { container }),
    ...(name === IMAGE_PULL ? pullCause(pod, container, node) : hookCause(name, pod, container)),
    forMs: lasting(node, since),
    ...(due === undefined ? {} : { next: due }),
  };
}

/** Maximum number of characters of a hook's command. */
const MAX_HOOK_CHARS = 200;

/** Names the command or address of a hook in progress. */
function hookCause(name: string, pod: Pod | undefined, container: string | undefined): Partial<PodWait> {
  const { lifecycle } = findNamed(specsOf(pod), container) ?? {};
  const handler =
    name === "PostStartHook" ? lifecycle?.postStart : name === "PreStopHook" ? lifecycle?.preStop : undefined;
  const { exec, httpGet, tcpSocket, sleep } = handler ?? {};
  if (exec !== undefined) return { cause: `runs ${(exec.command ?? []).join(" ").slice(0, MAX_HOOK_CHARS)}` };
  if (httpGet !== undefined)
    return { cause: `asks port ${httpGet.port} for ${(httpGet.path ?? "/").slice(0, MAX_HOOK_CHARS)}` };
  if (tcpSocket !== undefined) return { cause: `connects to port ${tcpSocket.port}` };
  return sleep === undefined ? {} : { cause: `sleeps ${sleep.seconds}s` };
}

function pullCause(pod: Pod | undefined, container: string | undefined, node: NodeBusiness): Partial<PodWait> {
  const image = findNamed(specsOf(pod), container)?.image;
  const at = node.pulls.findIndex((pull) => isImage(pull.image, image));
  const own = node.pulls[at];
  if (own === undefined) return image === undefined ? {} : { cause: image };
  const name = image ?? own.image;
  if (own.startedAt !== undefined) {
    return { cause: `${name}, pulling for ${seconds(node.now.mono - own.startedAt)}` };
  }
  const before = node.pulls.slice(0, at);
  const ahead = before.map(({ image: other }) => other);
  if (ahead.length === 0) return { cause: `${name}, next in line, delayed by the pull rate limit` };
  const reported = before.slice(0, NAMED_AHEAD).map(({ image: other, startedAt }) => {
    return startedAt === undefined ? other : `${other} (pulling for ${seconds(node.now.mono - startedAt)})`;
  });
  const more = before.length > NAMED_AHEAD ? ` and ${before.length - NAMED_AHEAD} more` : "";
  return { cause: `${name}, ${ordinal(ahead.length + 1)} in line behind ${reported.join(", ")}${more}`, ahead };
}

/** Maximum number of images to name in the text of a wait; `ahead` lists all. */
const NAMED_AHEAD = 3;

/** The queue has full image names; pods may use short ones. */
function isImage(pulled: string, written: string | undefined): boolean {
  const ref = parseImageRef(written ?? "");
  return ref.ok && ref.value.pullName === pulled;
}

const specsOf = (pod: Pod | undefined) => (pod === undefined ? [] : allContainers(pod.spec));

function failureWaits(timeline: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  const busy = new Set([...timeline.underWay.values()].map(({ stage }) => stage.container));
  return [...timeline.failures].flatMap(([container, { reason, message, retryAt, since }]): readonly PodWait[] => {
    const at = retryAt ?? timeline.failedRound?.againAt;
    if (at === undefined || busy.has(container)) return [];
    const next = { what: "next try", at };
    return [{ what: reason, container, cause: message, forMs: lasting(node, since), next }];
  });
}

/** A failed sync, unless the failure is that of a container with a wait of its own. */
function roundWait({ failedRound, failures, underWay }: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  if (failedRound === undefined || underWay.size > 0) return [];
  const reported = new Set([...failures.values()].map(({ reason, message }) => `${reason}: ${message}`));
  const unreported = failedRound.failures.filter((failure) => !reported.has(failure));
  if (unreported.length === 0) return [];
  const next = failedRound.againAt === undefined ? {} : { next: { what: "next try", at: failedRound.againAt } };
  return [{ what: "Retry", cause: unreported.join("; "), forMs: lasting(node, failedRound.since), ...next }];
}

/** Sidecars that stop after the main containers and after later sidecars. */
function sidecarStops({ state, status, pod, underWay }: PodTimeline): readonly PodWait[] {
  if (state !== "terminating") return [];
  const busy = new Set([...underWay.values()].map(({ stage }) => stage.container));
  const runs = new Set(
    podContainerStatuses(status).flatMap((container) =>
      container.state?.running === undefined ? [] : [container.name],
    ),
  );
  const namesOf = (specs: Pod["spec"]["initContainers"]) =>
    (specs ?? []).map(({ name }) => name).filter((name) => runs.has(name));
  const main = namesOf(pod?.spec.containers);
  const sidecars = namesOf(pod?.spec.initContainers?.filter(isSidecar));
  return sidecars.flatMap((container, at): readonly PodWait[] => {
    const ahead = [...main, ...sidecars.slice(at + 1).reverse()];
    if (ahead.length === 0 || busy.has(container)) return [];
    return [{ what: "SidecarStop", container, cause: `stops after ${ahead.join(", ")}`, ahead, forMs: undefined }];
  });
}

function statusWaits(timeline: PodTimeline, node: NodeBusiness): readonly PodWait[] {
  const { state, status, pod, underWay } = timeline;
  if (state !== "syncing") return [];
  const busy = new Set([...underWay.values()].map(({ stage }) => stage.container));
  const isNameOfSidecar = (name: string): boolean =>
    pod?.spec.initContainers?.some((spec) => spec.name === name && isSidecar(spec)) === true;
  const of = (what: string, { name, state: is }: ApiContainerStatus, cause: string): PodWait => {
    const startedAt = parseInstant(is?.running?.startedAt);
    const forMs = startedAt === undefined ? undefined : Math.max(0, node.now.wall - startedAt);
    return { what, container: name, cause, forMs };
  };
  const probed = (container: ApiContainerStatus): readonly PodWait[] => {
    if (container.state?.running === undefined || busy.has(container.name)) return [];
    const said = lastUnhealthy(timeline, container);
    if (container.started !== true) return [of("StartupProbe", container, `has not succeeded yet${said}`)];
    return container.ready ? [] : [of("ReadinessProbe", container, `does not succeed${said}`)];
  };
  const inits = (status?.initContainerStatuses ?? []).flatMap((container): readonly PodWait[] => {
    if (isNameOfSidecar(container.name)) return probed(container);
    if (container.state?.running === undefined) return [];
    return [of("InitContainer", container, "has not completed yet")];
  });
  return [...inits, ...(status?.containerStatuses ?? []).flatMap(probed)];
}

/** The event of the last failed probe since the container runs, with the output of the probe; empty without one. */
function lastUnhealthy({ entries }: PodTimeline, { name, state }: ApiContainerStatus): string {
  const startedAt = parseInstant(state?.running?.startedAt) ?? 0;
  const failed = entries.findLast(
    ({ what, container, lastAt, at }) => what === "Unhealthy" && container === name && (lastAt ?? at) >= startedAt,
  );
  return failed?.message === undefined ? "" : `: ${failed.message}`;
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))}s`;

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/** Formats an ordinal number: `third`; beyond ten `11th`, `12th`, `21st`. */
export function ordinal(place: number): string {
  const word = ORDINALS[place - 1];
  if (word !== undefined) return word;
  const isTeen = place % 100 >= 11 && place % 100 <= 13;
  return `${place}${isTeen ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th")}`;
}
