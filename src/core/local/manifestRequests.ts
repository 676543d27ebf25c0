/** The requests of `rxlet apply` and `rxlet delete`. Pure. */

/** Path of the manifests that apply has written. */
export const MANIFESTS_PATH = "/rxlet/v1/manifests";
/** Largest manifest, in bytes: that of a file in the manifest directory. */
export const MAX_APPLY_BYTES = 1024 * 1024;

/** Returns the path that removes an object. */
export const removalPath = (kind: string, namespace: string, name: string, isDry: boolean): string => {
  const query = new URLSearchParams({ namespace, ...(isDry ? { dryRun: "true" } : {}) });
  return `${MANIFESTS_PATH}/${encodeURIComponent(kind)}/${encodeURIComponent(name)}?${query}`;
};
