import { describe, expect, it } from "vitest";
import { DEFAULT_IMAGE_PULL_POLICY, NO_BACKOFFS, registerFailure } from "../../../../src/core/backoff.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import {
  decidePull,
  ensureImageLabels,
  imageBackoffKey,
  inspectFailure,
  pulledEvent,
  pullFailedEvent,
  pullFailure,
  type PullPolicy,
  type PullInput,
} from "../../../../src/core/image/pullDecision.ts";
import { mono } from "../samples.ts";

const KEY = imageBackoffKey(podUid("uid"), "app:1");
const base: PullInput = {
  image: "app:1",
  policy: "IfNotPresent",
  present: "absent",
  backoffs: NO_BACKOFFS,
  backoffKey: KEY,
  backoffPolicy: DEFAULT_IMAGE_PULL_POLICY,
  lastFailure: undefined,
  now: mono(100),
};
const pull = (image: string, pullName = image) => ({
  kind: "pull",
  pullName,
  event: { type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` },
});
const present = (image: string) => ({
  kind: "present",
  event: {
    type: "Normal",
    reason: "Pulled",
    message: `Container image "${image}" already present on machine and can be accessed by the pod`,
  },
});
const neverText = 'Container image "app:1" is not present with pull policy of Never';
const never = {
  kind: "refuse",
  error: kubeletError("Rejected", neverText, { reason: "ErrImageNeverPull" }),
  event: { type: "Warning", reason: "ErrImageNeverPull", message: neverText },
};
const invalidText =
  'Failed to apply default image tag "a b": couldn\'t parse image name "a b": invalid reference format';
const failedAt100 = registerFailure(NO_BACKOFFS, KEY, mono(100), DEFAULT_IMAGE_PULL_POLICY);
const lastFailure = kubeletError("NotFound", "rpc error: code = NotFound desc = not found", { reason: "ErrImagePull" });
const backingOff = (message: string) => ({
  kind: "wait",
  until: mono(110),
  error: kubeletError("Backoff", message, { reason: "ImagePullBackOff" }),
  event: { type: "Normal", reason: "BackOff", message: 'Back-off pulling image "app:1"' },
});

describe("decidePull", () => {
  const rows: readonly (readonly [string, Partial<PullInput>, object])[] = [
    ["IfNotPresent pulls what is missing", {}, pull("app:1")],
    ["IfNotPresent uses what is there", { present: "accessible" }, present("app:1")],
    ["Always pulls what is there, too", { policy: "Always", present: "accessible" }, pull("app:1")],
    ["Never uses what is there", { policy: "Never", present: "accessible" }, present("app:1")],
    ["Never fails for a missing image", { policy: "Never" }, never],
    ["without a policy a fixed tag is kept", { policy: undefined, present: "accessible" }, present("app:1")],
    [
      "without a policy latest is pulled",
      { image: "app", policy: undefined, present: "accessible" },
      pull("app", "app:latest"),
    ],
    [
      "an invalid name fails, whatever the policy",
      { image: "a b", policy: "Never", present: "accessible" },
      {
        kind: "refuse",
        error: kubeletError("InvalidArgument", invalidText, { reason: "InvalidImageName" }),
        event: { type: "Warning", reason: "InspectFailed", message: invalidText },
      },
    ],
    [
      "after a failure it waits, and says why",
      { backoffs: failedAt100, lastFailure, now: mono(105) },
      backingOff('Back-off pulling image "app:1": ErrImagePull: rpc error: code = NotFound desc = not found'),
    ],
    [
      "it waits also when the cause is forgotten",
      { backoffs: failedAt100, now: mono(100) },
      backingOff('Back-off pulling image "app:1"'),
    ],
    ["the wait ends on its instant", { backoffs: failedAt100, lastFailure, now: mono(110) }, pull("app:1")],
    ["what is there needs no wait", { backoffs: failedAt100, lastFailure, present: "accessible" }, present("app:1")],
    [
      "the failure of another pod does not delay the pull",
      { backoffs: failedAt100, backoffKey: "other" },
      pull("app:1"),
    ],
  ];
  it.each(rows)("%s", (_title, input, decision) => {
    expect(decidePull({ ...base, ...input })).toEqual(decision);
  });
});

describe("failures of pulls", () => {
  it.each([
    ["any", "rpc error: code = NotFound desc = nope", "ErrImagePull", "rpc error: code = NotFound desc = nope"],
    [
      "a registry out of reach",
      "RegistryUnavailable: connection refused",
      "RegistryUnavailable",
      "image pull failed for app:1 because the registry is unavailable: connection refused",
    ],
    [
      "a bad signature, in the words of gRPC",
      "rpc error: code = Unknown desc = SignatureValidationFailed: untrusted",
      "SignatureValidationFailed",
      "image pull failed for app:1 because the signature validation failed: untrusted",
    ],
    ["a mark that is not at the start", "pulling: RegistryUnavailable", "ErrImagePull", "pulling: RegistryUnavailable"],
  ])("%s", (_title, message, reason, text) => {
    expect(pullFailure("app:1", kubeletError("Unknown", message))).toEqual(kubeletError("Unknown", text, { reason }));
  });
});

describe("image events", () => {
  it("report both durations of a successful pull in whole milliseconds, and the size", () => {
    expect(pulledEvent("app:1", 1200.9, 61_234, 53_625_741n)).toEqual({
      type: "Normal",
      reason: "Pulled",
      message: 'Successfully pulled image "app:1" in 1.2s (1m1.234s including waiting). Image size: 53625741 bytes.',
    });
  });
  it("report the runtime's error of a failed pull", () => {
    expect(pullFailedEvent("app:1", kubeletError("NotFound", "nope"))).toEqual({
      type: "Warning",
      reason: "Failed",
      message: 'Failed to pull image "app:1": nope',
    });
  });
  it("report a failed lookup", () => {
    const message = 'Failed to inspect image "app:1": gone';
    expect(inspectFailure("app:1", kubeletError("Unavailable", "gone"))).toEqual({
      error: kubeletError("Unavailable", message, { reason: "ImageInspectError" }),
      event: { type: "Warning", reason: "InspectFailed", message },
    });
  });
});

describe("ensureImageLabels", () => {
  const decision = (present: PullInput["present"], policy: PullPolicy) => decidePull({ ...base, present, policy });
  it.each([
    ["IfNotPresent", "absent", "false", "true"],
    ["IfNotPresent", "accessible", "true", "false"],
    ["IfNotPresent", "unchecked", "true", "false"],
    ["IfNotPresent", "inaccessible", "true", "true"],
    ["Never", "absent", "false", "unknown"],
    ["Never", "inaccessible", "true", "true"],
    ["Always", "unchecked", "unknown", "true"],
  ] as const)("%s, %s: present %s, pull %s", (policy, present, present_locally, pull_required) => {
    const labels = { present_locally, pull_policy: policy.toLowerCase(), pull_required };
    expect(ensureImageLabels(policy, present, decision(present, policy))).toEqual(labels);
  });

  it("are unknown when the image could not be looked up", () => {
    const unknown = { present_locally: "unknown", pull_policy: "", pull_required: "unknown" };
    expect(ensureImageLabels(undefined, undefined, undefined)).toEqual(unknown);
  });
});

describe("an image on the node that the pod may not use", () => {
  it("is pulled, or with policy Never reported as absent", () => {
    const of = (policy: PullPolicy) => decidePull({ ...base, present: "inaccessible", policy });
    expect([of("IfNotPresent").kind, of("Never").event.reason]).toEqual(["pull", "ErrImageNeverPull"]);
  });

  it("is reported without a note on access when nothing is verified", () => {
    const { event } = decidePull({ ...base, present: "unchecked", policy: "IfNotPresent" });
    expect(event.message).toBe(`Container image "${base.image}" already present on machine`);
  });
});
