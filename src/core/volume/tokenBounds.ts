/**
 * Bounds the service-account tokens that the volumes of a pod may request: each one is a request to the API server, kept
 * and renewed for as long as the pod lives. Differs from upstream, which requests any number.
 */
import type { Pod } from "../api.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { Volume } from "./volumeLayout.ts";

/** Audiences are URLs or short names. */
export const MAX_AUDIENCE_CHARS = 1024;
/** Tokens of all volumes of a pod. Pods have one to three. */
export const MAX_POD_TOKENS = 64;

/** Returns why the tokens of the volume are not requested: the first field beyond a bound. */
export function tokenFault(pod: Pod, volume: Volume): KubeletError | undefined {
  let tokens = 0;
  for (const { name, projected } of pod.spec.volumes ?? []) {
    for (const [index, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      tokens += 1;
      if (name !== volume.name) continue;
      const field = `projected.sources[${index}].serviceAccountToken`;
      const { audience = "" } = serviceAccountToken;
      if (tokens > MAX_POD_TOKENS) return refused(pod, name, field, `a pod has at most ${MAX_POD_TOKENS} tokens`);
      if (audience.length > MAX_AUDIENCE_CHARS) {
        const bound = `must be at most ${MAX_AUDIENCE_CHARS} characters, and has ${audience.length}`;
        return refused(pod, name, `${field}.audience`, bound);
      }
    }
  }
  return undefined;
}

function refused({ metadata }: Pod, volume: string, field: string, why: string): KubeletError {
  const message = `pod "${metadata.namespace}/${metadata.name}": volume "${volume}": ${field}: ${why}`;
  return kubeletError("InvalidArgument", message, { reason: "FailedMount" });
}
