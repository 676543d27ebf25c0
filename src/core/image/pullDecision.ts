/**
 * Decides whether a container's image is pulled, is present, or must wait, and with which reason a failure is reported.
 * Upstream: EnsureImageExists and evalCRIPullErr (pkg/kubelet/images/image_manager.go).
 */
import { type BackoffPolicy, type ContainerBackoffs, retryAt } from "../backoff.ts";
import { type KubeletError, kubeletError, withReason } from "../errors.ts";
import type { KubeletEvent } from "../events.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import * as text from "./imageMessages.ts";
import { missingPullSecretsMessage } from "./pullSecrets.ts";
import { parseImageRef } from "./imageRef.ts";
import { pullPolicyOfTag } from "./defaultPullPolicy.ts";

export type PullPolicy = "Always" | "IfNotPresent" | "Never";

/** An event without its involved object, which the caller adds. */
export type ImageEvent = Omit<KubeletEvent, "object">;

/** The inputs of a pull decision. */
export interface PullInput {
  /** The image as written in the pod. */
  readonly image: string;
  /** Absent: Always for the tag `latest`, else IfNotPresent. */
  readonly policy: PullPolicy | undefined;
  /**
   * Whether the runtime has the image, and whether the pod may use it: `unchecked` needs no check, `accessible` passed
   * it, `inaccessible` did not.
   */
  readonly present: "absent" | "unchecked" | "accessible" | "inaccessible";
  /** Backoffs of failed pulls, by `imageBackoffKey`. */
  readonly backoffs: ContainerBackoffs;
  readonly backoffKey: string;
  readonly backoffPolicy: BackoffPolicy;
  /** The last failed pull under this key, as returned by `pullFailure`. */
  readonly lastFailure: KubeletError | undefined;
  readonly now: MonotonicMs;
}

/** The next step for a container's image. */
export type PullDecision =
  /** The image on the node is used. */
  | { readonly kind: "present"; readonly event: ImageEvent }
  | { readonly kind: "pull"; readonly pullName: string; readonly event: ImageEvent }
  /** Too early after a failure; `until` is the time of the next attempt. */
  | { readonly kind: "wait"; readonly until: MonotonicMs; readonly error: KubeletError; readonly event: ImageEvent }
  /** No pull can succeed. */
  | { readonly kind: "refuse"; readonly error: KubeletError; readonly event: ImageEvent };

/** Returns the backoff key of a pod and image. */
export const imageBackoffKey = (podUid: PodUid, image: string): string => `${podUid}_${image}`;

const normal = (reason: string, message: string): ImageEvent => ({ type: "Normal", reason, message });
const warning = (reason: string, message: string): ImageEvent => ({ type: "Warning", reason, message });

/**
 * Returns the labels of kubelet_image_manager_ensure_image_requests_total; policy Always does not look up `present`.
 */
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

/** Decides the next step for one container's image. */
export function decidePull(input: PullInput): PullDecision {
  const { image, present, backoffs, backoffKey, backoffPolicy, now } = input;
  const ref = parseImageRef(image);
  if (!ref.ok) return { kind: "refuse", error: ref.error, event: warning("InspectFailed", ref.error.message) };
  const policy = input.policy ?? pullPolicyOfTag(ref.value.tag);
  if (policy !== "Always" && (present === "unchecked" || present === "accessible")) {
    return { kind: "present", event: normal("Pulled", text.presentMessage(image, present === "accessible")) };
  }
  // The message does not reveal an image that the pod may not use.
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

/** Prefixes by which CRI marks two kinds of failed pulls in the status message. */
const CRI_MARKS = [
  { mark: "RegistryUnavailable", cause: "the registry is unavailable" },
  { mark: "SignatureValidationFailed", cause: "the signature validation failed" },
] as const;

/**
 * Returns a failed pull with the reason that the API shows: ErrImagePull, RegistryUnavailable or
 * SignatureValidationFailed.
 */
export function pullFailure(image: string, error: KubeletError): KubeletError {
  for (const { mark, cause } of CRI_MARKS) {
    const start = error.message.startsWith(mark) ? 0 : error.message.indexOf(`desc = ${mark}`);
    if (start < 0) continue;
    const detail = error.message.slice(error.message.indexOf(mark) + mark.length);
    return { ...withReason(error, mark), message: `image pull failed for ${image} because ${cause}${detail}` };
  }
  return withReason(error, "ErrImagePull");
}

/** Returns the event of a failed pull; `error` is the runtime's. */
export const pullFailedEvent = (image: string, error: KubeletError): ImageEvent =>
  warning("Failed", text.failedToPullMessage(image, error.message));

/** Returns the event for missing pull secrets; the pull is attempted without them. */
export const missingPullSecretsEvent = (names: readonly string[]): ImageEvent =>
  warning("FailedToRetrieveImagePullSecret", missingPullSecretsMessage(names));

/**
 * Combines the failures of all credentials, each text once, in the format of upstream's aggregate. At least one
 * failure.
 */
export function allFailed(failures: readonly KubeletError[]): KubeletError {
  const texts = [...new Set(failures.map(({ message }) => message))];
  const last = failures.at(-1) ?? kubeletError("Unknown", "no credentials were tried");
  return { ...last, message: texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]` };
}

/** Returns the event of a successful pull; times in milliseconds. */
export const pulledEvent = (image: string, pullMs: number, totalMs: number, sizeBytes: bigint | number): ImageEvent =>
  normal("Pulled", text.pulledMessage(image, pullMs, totalMs, sizeBytes));

/** Returns the error and the event of a failed image lookup: reason ImageInspectError. */
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
