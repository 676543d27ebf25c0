/**
 * Events and messages of lifecycle hooks. Events omit the cause of a failure, because it may contain secrets. Upstream:
 * pkg/kubelet/lifecycle.
 */
import type { Container, Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { describePod } from "./crashLoopGate.ts";
import { podEventObject } from "./podEvents.ts";

/** A lifecycle handler of the API. */
export type LifecycleHandler = NonNullable<NonNullable<Container["lifecycle"]>["preStop"]>;
export type HookKind = "postStart" | "preStop";

const FAILED: Readonly<Record<HookKind, readonly [reason: string, message: string]>> = {
  postStart: ["FailedPostStartHook", "PostStartHook failed"],
  preStop: ["FailedPreStopHook", "PreStopHook failed"],
};

/** Reason for stopping a container whose postStart hook failed, in its Killing event. */
export const FAILED_POST_START = FAILED.postStart[0];

/** Event for a failed hook. */
export function hookFailedEvent(pod: Pod, containerName: string, kind: HookKind): KubeletEvent {
  const [reason, message] = FAILED[kind];
  return { type: "Warning", reason, message, object: podEventObject(pod, containerName) };
}

/** Event for an HTTPS hook that was retried over plain HTTP. */
export const hookFallbackEvent = (pod: Pod, address: string): KubeletEvent => ({
  type: "Warning",
  reason: "LifecycleHTTPFallback",
  message: `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`,
  object: podEventObject(pod),
});

/** Returns the waiting message of the container. `what` is the kind and target of the hook. */
export const hookFailure = (pod: Pod, containerName: string, what: string, cause: string): string =>
  `${what} for Container ${JSON.stringify(containerName)} in Pod ${JSON.stringify(describePod(pod))} failed - error: ${cause}`;
