/** A pod as the live view shows it: its state, its containers and its waits. */
import type { ApiContainerStatus, Pod, PodStatus } from "../api.ts";
import { allContainers, isSidecar, podContainerStatuses } from "../pod/containers.ts";
import { sourceOf } from "../pod/sourceSnapshot.ts";
import { type NodeBusiness, podWaits } from "../timeline/podWaits.ts";
import type { PodTimeline, PodWait } from "../timeline/timelineTypes.ts";
import { type LiveContainer, type LivePod, type LiveWait, MAX_DETAIL } from "./liveMessages.ts";

/** Returns the pod as it is at `node.now`. */
export function livePod(timeline: PodTimeline, node: NodeBusiness): LivePod {
  const { identity, pod, state, status } = timeline;
  const source = pod === undefined ? undefined : sourceOf(pod);
  return {
    ...{ uid: identity.uid, namespace: identity.namespace, name: identity.name, source: source ?? "", state },
    ...(status?.phase === undefined ? {} : { phase: status.phase }),
    ...(status?.reason === undefined ? {} : { reason: status.reason }),
    ...(status?.message === undefined ? {} : { message: status.message.slice(0, MAX_DETAIL) }),
    containers: pod === undefined ? [] : containersOf(pod, status),
    waits: podWaits(timeline, node).map((wait) => liveWait(withLastExit(wait, status), node)),
  };
}

function containersOf(pod: Pod, status: PodStatus | undefined): readonly LiveContainer[] {
  const statuses = new Map(podContainerStatuses(status).map((each) => [each.name, each]));
  const inits = new Set((pod.spec.initContainers ?? []).map(({ name }) => name));
  return allContainers(pod.spec).map((container) => {
    const { name } = container;
    const kind = isSidecar(container) ? "sidecar" : inits.has(name) ? "init" : "main";
    return { name, kind, ...containerState(statuses.get(name)) };
  });
}

function containerState(status: ApiContainerStatus | undefined): Omit<LiveContainer, "name" | "kind"> {
  const { state, ready = false, restartCount: restarts = 0 } = status ?? {};
  if (state?.running !== undefined) return { state: "running", ready, restarts };
  const ended = state?.terminated;
  const reason = ended?.reason ?? state?.waiting?.reason;
  return {
    ...{ state: ended === undefined ? "waiting" : "terminated", ready, restarts },
    ...(reason === undefined ? {} : { reason }),
  };
}

/** A back-off says that a container ended; its last exit says how. */
function withLastExit(wait: PodWait, status: PodStatus | undefined): PodWait {
  if (wait.what !== "CrashLoopBackOff") return wait;
  const { lastState } = podContainerStatuses(status).find(({ name }) => name === wait.container) ?? {};
  const ended = lastState?.terminated;
  if (ended === undefined) return wait;
  const { exitCode, reason, message = "" } = ended;
  const said = message.trim() === "" ? "" : `: ${message.trim()}`;
  const exit = `exited with code ${exitCode}${reason === undefined ? "" : ` (${reason})`}${said}`;
  return { ...wait, cause: wait.cause === undefined ? exit : `${exit}; ${wait.cause}` };
}

function liveWait({ what, container, cause, ahead, forMs, next }: PodWait, { now }: NodeBusiness): LiveWait {
  return {
    what,
    ...(container === undefined ? {} : { container }),
    ...(cause === undefined ? {} : { cause: cause.slice(0, MAX_DETAIL) }),
    ...(ahead === undefined ? {} : { ahead }),
    ...(forMs === undefined ? {} : { since: Math.round(now.wall - forMs) }),
    ...(next === undefined ? {} : { next: { what: next.what, at: Math.round(now.wall + (next.at - now.mono)) } }),
  };
}
