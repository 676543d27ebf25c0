/** When an image is pulled whose container does not say so. Counterpart: SetDefaults_Container (defaults.go). */
import { parseImageRef } from "../image/imageRef.ts";

/** Always for the moving tag `latest`, IfNotPresent for everything that stays, and for what is no reference. */
export function defaultPullPolicy(reference: string): "Always" | "IfNotPresent" {
  const parsed = parseImageRef(reference);
  return parsed.ok && parsed.value.tag === "latest" ? "Always" : "IfNotPresent";
}
