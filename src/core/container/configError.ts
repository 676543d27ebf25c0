/** Why a config cannot be made, under the reason the API shows: of a container in upstream's words, else with the pod. */
import type { Pod } from "../api.ts";
import { type ErrorCode, kubeletError } from "../errors.ts";
import { type Result, err } from "../result.ts";

type FailureReason = "CreatePodSandboxError" | "FailedMount";

/** How upstream writes a pod in messages: `name_namespace(uid)`. */
export const podText = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/** The container cannot be configured as its spec says; shown with the container, so the text need not name it. */
export const containerConfigError = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError" }));

/** The sandbox cannot be configured as the pod says. */
export const sandboxConfigError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("CreatePodSandboxError", pod, message, code);

/** A volume cannot be given to a container. */
export const mountError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("FailedMount", pod, message, code);

const fail = (reason: FailureReason, pod: Pod, message: string, code: ErrorCode): Result<never> =>
  err(kubeletError(code, `pod "${podText(pod)}": ${message}`, { reason }));
