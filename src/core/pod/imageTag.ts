/** What an image reference says about its version, as far as the default pull policy needs it. */

/**
 * The tag of an image reference. A reference with a digest and no tag has none; without either it is "latest".
 * A colon before the last slash belongs to a registry's port.
 */
export function imageTag(reference: string): string {
  const [name = "", digest] = reference.split("@", 2);
  const colon = name.lastIndexOf(":");
  if (colon > name.lastIndexOf("/")) return name.slice(colon + 1);
  return digest === undefined && reference !== "" ? "latest" : "";
}

/** Always for the moving tag `latest`, IfNotPresent for everything that stays. */
export const defaultPullPolicy = (reference: string): "Always" | "IfNotPresent" =>
  imageTag(reference) === "latest" ? "Always" : "IfNotPresent";
