/**
 * Whether a container's image must be pulled, is there, or has to wait, and under which reason a failure is told.
 * Upstream: EnsureImageExists and evalCRIPullErr (pkg/kubelet/images/image_manager.go).
 */
import { type BackoffPolicy, type ContainerBackoffs, retryAt } from "../backoff.ts";
import { type KubeletError, kubeletError, withReason } from "../errors.ts";
import type { KubeletEvent } from "../events.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import * as text from "./imageMessages.ts";
import { missingPullSecretsMessage } from "./pullSecrets.ts";
import { parseImageRef } from "./imageRef.ts";

export type PullPolicy = "Always" | "IfNotPresent" | "Never";

/** An event without its object: the caller knows the pod and container. */
export type ImageEvent = Omit<KubeletEvent, "object">;

export interface PullInput {
  /** As the pod's author wrote it. */
  readonly image: string;
  /** Absent: Always for the tag `latest`, else IfNotPresent. */
  readonly policy: PullPolicy | undefined;
  /** Whether the runtime has the image, and the pod may use it: unchecked, because it showed that it may, or not so. */
  readonly present: "absent" | "unchecked" | "accessible" | "inaccessible";
  /** Failed pulls, by `imageBackoffKey`. */
  readonly backoffs: ContainerBackoffs;
  readonly backoffKey: string;
  readonly backoffPolicy: BackoffPolicy;
  /** Why the last pull under this key failed, as `pullFailure` gave it. */
  readonly lastFailure: KubeletError | undefined;
  readonly now: MonotonicMs;
}

export type PullDecision =
  /** Use what is there. */
  | { readonly kind: "present"; readonly event: ImageEvent }
  | { readonly kind: "pull"; readonly pullName: string; readonly event: ImageEvent }
  /** Too early after a failure; `until` is when to come back. */
  | { readonly kind: "wait"; readonly until: MonotonicMs; readonly error: KubeletError; readonly event: ImageEvent }
  /** No pull will ever help. */
  | { readonly kind: "refuse"; readonly error: KubeletError; readonly event: ImageEvent };

/** Backoffs of pulls are kept per pod and image. */
export const imageBackoffKey = (podUid: PodUid, image: string): string => `${podUid}_${image}`;

const normal = (reason: string, message: string): ImageEvent => ({ type: "Normal", reason, message });
const warning = (reason: string, message: string): ImageEvent => ({ type: "Warning", reason, message });

/** The policy in force when the container states none. */
function effectivePullPolicy(policy: PullPolicy | undefined, tag: string | undefined): PullPolicy {
  return policy ?? (tag === "latest" ? "Always" : "IfNotPresent");
}

/** Labels of kubelet_image_manager_ensure_image_requests_total; `present` is not asked for with policy Always. */
export function ensureImageLabels(
  policy: string | undefined,
  present: PullInput["present"] | undefined,
  decision: PullDecision | undefined,
): Readonly<Record<string, string>> {
  const isMisnamed = decision?.kind === "refuse" && decision.error.reason === "InvalidImageName";
  const isKnown = present !== undefined && policy !== "Always" && !isMisnamed;
  return {
    present_locally: isKnown ? String(present !== "absent") : "unknown",
    pull_policy: (policy ?? "").toLowerCase(),
    pull_required: pullRequired(present, decision),
  };
}

function pullRequired(present: PullInput["present"] | undefined, decision: PullDecision | undefined): string {
  switch (decision?.kind) {
    case "present":
      return "false";
    case "pull":
    case "wait":
      return "true";
    case "refuse":
      return present === "inaccessible" ? "true" : "unknown";
    case undefined:
      return "unknown";
  }
}

/** Decides what to do about one container's image now. */
export function decidePull(input: PullInput): PullDecision {
  const { image, present, backoffs, backoffKey, backoffPolicy, now } = input;
  const ref = parseImageRef(image);
  if (!ref.ok) return { kind: "refuse", error: ref.error, event: warning("InspectFailed", ref.error.message) };
  const policy = effectivePullPolicy(input.policy, ref.value.tag);
  if (policy !== "Always" && (present === "unchecked" || present === "accessible")) {
    return { kind: "present", event: normal("Pulled", text.presentMessage(image, present === "accessible")) };
  }
  // Who may not use an image does not learn that it is there.
  if (policy === "Never") {
    const message = text.neverPullMessage(image);
    const error = kubeletError("Rejected", message, { reason: "ErrImageNeverPull" });
    return { kind: "refuse", error, event: warning("ErrImageNeverPull", message) };
  }
  const until = retryAt(backoffs, backoffKey, now, backoffPolicy);
  if (until === undefined) {
    return { kind: "pull", pullName: ref.value.pullName, event: normal("Pulling", text.pullingMessage(image)) };
  }
  const { lastFailure } = input;
  const cause = lastFailure === undefined ? "" : `: ${lastFailure.reason}: ${lastFailure.message}`;
  const error = kubeletError("Backoff", `${text.pullBackOffMessage(image)}${cause}`, { reason: "ImagePullBackOff" });
  return { kind: "wait", until, error, event: normal("BackOff", text.pullBackOffMessage(image)) };
}

/** The words by which CRI itself marks two kinds of failed pulls, at the start of the status message. */
const CRI_MARKS = [
  { mark: "RegistryUnavailable", cause: "the registry is unavailable" },
  { mark: "SignatureValidationFailed", cause: "the signature validation failed" },
] as const;

/** A failed pull under the reason the API shows: ErrImagePull, RegistryUnavailable or SignatureValidationFailed. */
export function pullFailure(image: string, error: KubeletError): KubeletError {
  for (const { mark, cause } of CRI_MARKS) {
    const start = error.message.startsWith(mark) ? 0 : error.message.indexOf(`desc = ${mark}`);
    if (start < 0) continue;
    const detail = error.message.slice(error.message.indexOf(mark) + mark.length);
    return { ...withReason(error, mark), message: `image pull failed for ${image} because ${cause}${detail}` };
  }
  return withReason(error, "ErrImagePull");
}

/** The event of a failed pull; `error` as the runtime gave it. */
export const pullFailedEvent = (image: string, error: KubeletError): ImageEvent =>
  warning("Failed", text.failedToPullMessage(image, error.message));

/** The event of pull secrets that are not there: the pull is tried without them. */
export const missingPullSecretsEvent = (names: readonly string[]): ImageEvent =>
  warning("FailedToRetrieveImagePullSecret", missingPullSecretsMessage(names));

/** What the credentials that were tried failed with, each text once: as upstream's aggregate. At least one. */
export function allFailed(failures: readonly KubeletError[]): KubeletError {
  const texts = [...new Set(failures.map(({ message }) => message))];
  const last = failures.at(-1) ?? kubeletError("Unknown", "no credentials were tried");
  return { ...last, message: texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]` };
}

/** The event of a pull that succeeded; times in milliseconds. */
export const pulledEvent = (image: string, pullMs: number, totalMs: number, sizeBytes: bigint | number): ImageEvent =>
  normal("Pulled", text.pulledMessage(image, pullMs, totalMs, sizeBytes));

/** The runtime could not say whether it has the image: reason ImageInspectError, and the event that goes with it. */
export function inspectFailure(
  image: string,
  error: KubeletError,
): { readonly error: KubeletError; readonly event: ImageEvent } {
  const message = text.inspectFailedMessage(image, error.message);
  return {
    error: { ...withReason(error, "ImageInspectError"), message },
    event: warning("InspectFailed", message),
  };
}
