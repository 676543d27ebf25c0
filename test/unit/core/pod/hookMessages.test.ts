import { expect, it } from "vitest";
import {
  FAILED_POST_START,
  hookFailedEvent,
  hookFailure,
  hookFallbackEvent,
} from "../../../../src/core/pod/hookMessages.ts";
import { podEventObject } from "../../../../src/core/pod/podEvents.ts";
import { pod } from "../samples.ts";

const subject = pod();

it.each([
  ["postStart", "FailedPostStartHook", "PostStartHook failed"],
  ["preStop", "FailedPreStopHook", "PreStopHook failed"],
] as const)("a failed %s hook is a warning with upstream's reason, on the container", (kind, reason, message) => {
  expect(hookFailedEvent(subject, "web", kind)).toEqual({
    type: "Warning",
    reason,
    message,
    object: podEventObject(subject, "web"),
  });
});

it("a container whose postStart hook failed is stopped for that reason", () => {
  expect(FAILED_POST_START).toBe("FailedPostStartHook");
});

it("an HTTPS hook that was answered over HTTP is a warning on the pod", () => {
  expect(hookFallbackEvent(subject, "10.0.0.2:443")).toEqual({
    type: "Warning",
    reason: "LifecycleHTTPFallback",
    message: "request to HTTPS lifecycle hook 10.0.0.2:443 got HTTP response, retry with HTTP succeeded",
    object: podEventObject(subject),
  });
});

it("the container waits with hook, container, pod and cause", () => {
  expect(hookFailure(subject, "web", "Exec lifecycle hook ([a])", "exit 1")).toBe(
    'Exec lifecycle hook ([a]) for Container "web" in Pod "web_default(uid)" failed - error: exit 1',
  );
});
