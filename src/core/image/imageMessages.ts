/** Texts of image events and waiting states. Upstream: pkg/kubelet/images/image_manager.go. */
import { formatDuration } from "../config/duration.ts";

/** Pulling: a pull starts. */
export const pullingMessage = (image: string): string => `Pulling image "${image}"`;

/**
 * Pulled, after a pull: the duration of the pull without and with waiting (milliseconds, truncated), and the image size
 * in bytes.
 */
export function pulledMessage(image: string, pullMs: number, totalMs: number, sizeBytes: bigint | number): string {
  const [pull, total] = [pullMs, totalMs].map((ms) => formatDuration(Math.trunc(ms)));
  return `Successfully pulled image "${image}" in ${pull} (${total} including waiting). Image size: ${sizeBytes} bytes.`;
}

/** Pulled, without a pull; `isChecked`: the pod's access to the image was verified. */
export const presentMessage = (image: string, isChecked: boolean): string =>
  `Container image "${image}" already present on machine${isChecked ? " and can be accessed by the pod" : ""}`;

/** Failed: a pull failed. */
export const failedToPullMessage = (image: string, cause: string): string =>
  `Failed to pull image "${image}": ${cause}`;

/** BackOff: a pull is delayed. */
export const pullBackOffMessage = (image: string): string => `Back-off pulling image "${image}"`;

/** ErrImageNeverPull: the image is absent and may not be pulled. */
export const neverPullMessage = (image: string): string =>
  `Container image "${image}" is not present with pull policy of Never`;

/** InspectFailed: the runtime could not look the image up. */
export const inspectFailedMessage = (image: string, cause: string): string =>
  `Failed to inspect image "${image}": ${cause}`;
