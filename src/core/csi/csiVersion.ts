/** Versions of the driver API that a CSI driver offers, and the one to use. Upstream: validateVersions of pkg/volume/csi. */
import { goQuote } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Numbers of a version, the major one first. */
export type CsiVersion = readonly number[];

/** Returns the highest version 1.x in the list. Errors: there is none. */
export function csiVersionOf(versions: readonly string[]): Result<CsiVersion> {
  const usable = versions.flatMap((version) => {
    const parsed = parse(version);
    return parsed !== undefined && (parsed[0] ?? 0) <= 1 ? [parsed] : [];
  });
  const [first, ...others] = usable;
  if (first === undefined) {
    return refuse(`could not find a highest supported version from versions ([${versions.join(" ")}]) reported`);
  }
  const highest = others.reduce((best, version) => (isOlder(best, version) ? version : best), first);
  if (highest[0] !== 1) {
    return refuse(`highest supported version reported is ${versionText(highest)}, must be v1.x`);
  }
  return ok(highest);
}

const refuse = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));

/** Two numbers or more, then anything. */
function parse(version: string): CsiVersion | undefined {
  const [, numbers] = /^\s*v?((?:0|[1-9]\d{0,8})(?:\.\d{1,9})+)/.exec(version) ?? [];
  return numbers?.split(".").map(Number);
}

export const versionText = (version: CsiVersion): string => version.join(".");

/** Returns whether the first version is less than the second; missing numbers count as zero. */
export function isOlder(first: CsiVersion, second: CsiVersion): boolean {
  for (let index = 0; index < Math.max(first.length, second.length); index += 1) {
    const [a, b] = [first[index] ?? 0, second[index] ?? 0];
    if (a !== b) return a < b;
  }
  return false;
}

/**
 * Returns why a driver with these versions cannot register; `registered` is the version of a driver with the same name.
 * Upstream's texts.
 */
export function csiRefusal(
  {
    name,
    endpoint,
    versions,
  }: { readonly name: string; readonly endpoint: string; readonly versions: readonly string[] },
  registered: CsiVersion | undefined,
): string | undefined {
  const failed = `validation failed for CSI Driver ${name} at endpoint ${endpoint}: kubernetes.io/csi: ValidatePlugin for CSI driver ${goQuote(name)} failed.`;
  const version = csiVersionOf(versions);
  if (!version.ok) {
    const list = versions.map(goQuote).join(" ");
    return `${failed} None of the versions specified [${list}] are supported. err=${version.error.message}`;
  }
  if (registered === undefined || isOlder(registered, version.value)) return undefined;
  return `${failed} Another driver with the same name is already registered with a higher supported version: ${goQuote(versionText(registered))}`;
}
