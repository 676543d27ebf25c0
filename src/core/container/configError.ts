/** Why a config cannot be made, under the reason the API shows. The text names pod, container and field. */
import type { Pod } from "../api.ts";
import { type ErrorCode, kubeletError } from "../errors.ts";
import { type Result, err } from "../result.ts";

type FailureReason = "CreateContainerConfigError" | "CreatePodSandboxError" | "FailedMount";

/** How upstream writes a pod in messages: `name_namespace(uid)`. */
export const podText = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/** The container cannot be configured as its spec says. */
export const containerConfigError = (
  pod: Pod,
  container: string,
  message: string,
  code: ErrorCode = "InvalidArgument",
): Result<never> => fail("CreateContainerConfigError", pod, `container "${container}": ${message}`, code);

/** The sandbox cannot be configured as the pod says. */
export const sandboxConfigError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("CreatePodSandboxError", pod, message, code);

/** A volume cannot be given to a container. */
export const mountError = (pod: Pod, message: string, code: ErrorCode = "InvalidArgument"): Result<never> =>
  fail("FailedMount", pod, message, code);

const fail = (reason: FailureReason, pod: Pod, message: string, code: ErrorCode): Result<never> =>
  err(kubeletError(code, `pod "${podText(pod)}": ${message}`, { reason }));
