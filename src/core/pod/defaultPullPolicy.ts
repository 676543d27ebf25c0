/** Default image pull policy. Upstream: SetDefaults_Container (pkg/apis/core/v1/defaults.go). */
import { parseImageRef } from "../image/imageRef.ts";

/** Returns Always for the tag `latest`, else IfNotPresent, also for text that is not an image reference. */
export function defaultPullPolicy(reference: string): "Always" | "IfNotPresent" {
  const parsed = parseImageRef(reference);
  return parsed.ok && parsed.value.tag === "latest" ? "Always" : "IfNotPresent";
}
