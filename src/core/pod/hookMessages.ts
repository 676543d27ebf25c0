/** Events and texts of lifecycle hooks. Why a hook failed may hold secrets: no event says it. Upstream: pkg/kubelet/lifecycle. */
import type { Container, Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { describePod } from "./crashLoopGate.ts";
import { podEventObject } from "./podEvents.ts";

/** A hook of the API. */
export type LifecycleHandler = NonNullable<NonNullable<Container["lifecycle"]>["preStop"]>;
export type HookKind = "postStart" | "preStop";

const FAILED: Readonly<Record<HookKind, readonly [reason: string, message: string]>> = {
  postStart: ["FailedPostStartHook", "PostStartHook failed"],
  preStop: ["FailedPreStopHook", "PreStopHook failed"],
};

/** The reason of a container that is stopped because its postStart hook failed, in its Killing event. */
export const FAILED_POST_START = FAILED.postStart[0];

/** A hook failed. */
export function hookFailedEvent(pod: Pod, containerName: string, kind: HookKind): KubeletEvent {
  const [reason, message] = FAILED[kind];
  return { type: "Warning", reason, message, object: podEventObject(pod, containerName) };
}

/** An HTTPS hook was delivered over plain HTTP. */
export const hookFallbackEvent = (pod: Pod, address: string): KubeletEvent => ({
  type: "Warning",
  reason: "LifecycleHTTPFallback",
  message: `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`,
  object: podEventObject(pod),
});

/** What the waiting message of the container says of a hook: `what` is its kind and target. */
export const hookFailure = (pod: Pod, containerName: string, what: string, cause: string): string =>
  `${what} for Container ${JSON.stringify(containerName)} in Pod ${JSON.stringify(describePod(pod))} failed - error: ${cause}`;
