/**
 * Errors of CRI config builders, with the reason that the API shows. Container errors have upstream's text, others name
 * the pod.
 */
import type { Pod } from "../api.ts";
import { type ErrorCode, kubeletError } from "../errors.ts";
import { type Result, err } from "../result.ts";

type FailureReason = "CreatePodSandboxError" | "FailedMount";

/** Returns a pod in upstream's message format: `name_namespace(uid)`. */
export const podText = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/**
 * The container's spec cannot be turned into a config. The message is shown with the container, so it does not name it.
 */
export const containerConfigError = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError" }));

/** The pod cannot be turned into a sandbox config. */
export const sandboxConfigError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("CreatePodSandboxError", pod, message, code);

/** A volume cannot be mounted into a container. */
export const mountError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("FailedMount", pod, message, code);

const fail = (reason: FailureReason, pod: Pod, message: string, code: ErrorCode): Result<never> =>
  err(kubeletError(code, `pod "${podText(pod)}": ${message}`, { reason }));
