/** Versions of the Container Network Interface. Upstream: pkg/version and NetworkConfFromBytes of libcni. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Every published version, oldest first. */
export const CNI_VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** A published version. */
export type CniVersion = (typeof CNI_VERSIONS)[number];

/** The newest version that rxlet speaks. */
export const CURRENT_CNI_VERSION = "1.1.0";

/** The version of a document without `cniVersion`. */
export const UNNAMED_CNI_VERSION = "0.1.0";

/** Returns whether the text is a published version. */
export const isCniVersion = (text: string): text is CniVersion => (CNI_VERSIONS as readonly string[]).includes(text);

/** Returns whether `version` is `least` or a later one. */
export const isAtLeast = (version: CniVersion, least: CniVersion): boolean =>
  CNI_VERSIONS.indexOf(version) >= CNI_VERSIONS.indexOf(least);

/**
 * Chooses the version of a network from the fields `cniVersion` and `cniVersions` of its configuration: the newest of
 * both that rxlet speaks. Errors: InvalidArgument for an unknown `cniVersion` without an alternative.
 */
export function chooseCniVersion(single: string | undefined, several: readonly string[]): Result<CniVersion> {
  const known = [...several, ...(single === undefined || single === "" ? [] : [single])].filter(isCniVersion);
  if (known.length > 0) return ok(known.reduce((best, version) => (isAtLeast(version, best) ? version : best)));
  const named = single === undefined || single === "" ? several[0] : single;
  if (named === undefined) return ok(UNNAMED_CNI_VERSION);
  const range = `${CNI_VERSIONS[0]} to ${CURRENT_CNI_VERSION}`;
  return err(kubeletError("InvalidArgument", `cniVersion ${JSON.stringify(named)} is none of the versions ${range}`));
}
