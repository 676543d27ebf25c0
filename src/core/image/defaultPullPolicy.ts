/** Default image pull policy. Upstream: SetDefaults_Container (pkg/apis/core/v1/defaults.go). */
import { parseImageRef } from "./imageRef.ts";

/** Returns Always for the tag `latest`, else IfNotPresent, also for text that is not an image reference. */
export function defaultPullPolicy(reference: string): "Always" | "IfNotPresent" {
  const parsed = parseImageRef(reference);
  return pullPolicyOfTag(parsed.ok ? parsed.value.tag : undefined);
}

/** Returns the default for an image reference with this tag. */
export const pullPolicyOfTag = (tag: string | undefined): "Always" | "IfNotPresent" =>
  tag === "latest" ? "Always" : "IfNotPresent";
