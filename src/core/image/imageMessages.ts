/**
 * What the events and waiting states of images say. Upstream: pkg/kubelet/images/image_manager.go.
 */
import { formatDuration } from "../config/duration.ts";

/** Pulling: a pull begins. */
export const pullingMessage = (image: string): string => `Pulling image "${image}"`;

/**
 * Pulled, after a pull: how long the pull itself and the wait with it took (milliseconds, cut to whole ones), and the
 * size of the image in bytes.
 */
export function pulledMessage(image: string, pullMs: number, totalMs: number, sizeBytes: bigint | number): string {
  const [pull, total] = [pullMs, totalMs].map((ms) => formatDuration(Math.trunc(ms)));
  return `Successfully pulled image "${image}" in ${pull} (${total} including waiting). Image size: ${sizeBytes} bytes.`;
}

/** Pulled, without a pull; `isChecked`: it was made sure that the pod may use it. */
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
