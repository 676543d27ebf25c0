/**
 * CDI devices of a container: those of the claims and requests that it names, and of its extended resources that the
 * scheduler allocated by a claim. Upstream: GetResources of the DRA manager.
 */
import type { Container, Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { parseQuantity } from "../quantity.ts";
import { err, ok, type Result } from "../result.ts";
import { claimKey, type ClaimInfo, type ClaimInfos } from "./claimInfo.ts";
import { podClaims } from "./podClaims.ts";

/** A claim of a container, and the request it is limited to. */
export interface ContainerClaim {
  /** Name in `spec.resourceClaims`; undefined for extended resources. */
  readonly entry: string | undefined;
  readonly claimName: string;
  /** Empty: all requests. */
  readonly request: string;
}

/**
 * Name of a request without the alternative that was chosen for it: a prioritized list is allocated as
 * `request/subrequest`, and containers name the request.
 */
export const baseRequest = (request: string): string => request.split("/", 1)[0] ?? "";

/** Returns whether a device belongs to the request; an empty one means all. */
export const isOfRequest = ({ requestNames }: { readonly requestNames: readonly string[] }, request: string): boolean =>
  request === "" ||
  requestNames.length === 0 ||
  requestNames.some((name) => baseRequest(name) === baseRequest(request));

/** Returns the claims that the container names, in the order of the pod. */
export function containerClaims(
  pod: Pod,
  container: Container,
  withExtendedResources: boolean,
): Result<readonly ContainerClaim[]> {
  const claims = podClaims(pod, withExtendedResources);
  if (!claims.ok) return claims;
  const named = container.resources?.claims ?? [];
  return ok(
    claims.value.flatMap(({ entry, claimName }): readonly ContainerClaim[] => {
      const requests = entry === undefined ? extendedRequests(pod, container) : requestsOf(named, entry);
      return requests.map((request) => ({ entry, claimName, request }));
    }),
  );
}

const requestsOf = (named: readonly { readonly name: string; readonly request?: string }[], entry: string) =>
  named.filter(({ name }) => name === entry).map(({ request = "" }) => request);

const isZero = (amount: string): boolean => parseQuantity(amount)?.nano === 0n;

/** Requests of the claim that stand for extended resources of the container. */
function extendedRequests({ status }: Pod, { name, resources }: Container): readonly string[] {
  const wanted = resources?.requests ?? {};
  const asks = (resource: string): boolean => Object.hasOwn(wanted, resource) && !isZero(wanted[resource] ?? "");
  return (status?.extendedResourceClaimStatus?.requestMappings ?? [])
    .filter(({ containerName, resourceName }) => containerName === name && asks(resourceName))
    .map(({ requestName }) => requestName);
}

/**
 * Returns the names of the CDI devices, each once. Errors: NotFound if a claim of the container is not known, so that no
 * container starts without its devices.
 */
export function containerCdiDevices(
  pod: Pod,
  container: Container,
  infos: ClaimInfos,
  withExtendedResources: boolean,
): Result<readonly string[]> {
  const claims = containerClaims(pod, container, withExtendedResources);
  if (!claims.ok) return claims;
  const names = new Set<string>();
  for (const { claimName, request } of claims.value) {
    const info = claimOf(pod, claimName, infos);
    if (info === undefined) {
      const what = `ResourceClaim ${claimName} in namespace ${pod.metadata.namespace}`;
      return err(kubeletError("NotFound", `unable to get claim info for ${what}`));
    }
    for (const devices of info.drivers.values()) {
      for (const device of devices) {
        if (isOfRequest(device, request)) for (const name of device.cdiDeviceIds) names.add(name);
      }
    }
  }
  return ok([...names]);
}

/** Returns the claims of the container that are in use, each once; none while its claims cannot be read. */
export function claimsInUse(
  pod: Pod,
  container: Container,
  infos: ClaimInfos,
  withExtendedResources: boolean,
): readonly ClaimInfo[] {
  const claims = containerClaims(pod, container, withExtendedResources);
  const names = new Set(claims.ok ? claims.value.map(({ claimName }) => claimName) : []);
  return [...names].flatMap((name) => claimOf(pod, name, infos) ?? []);
}

/** Returns a claim that the pod uses. */
function claimOf({ metadata }: Pod, claimName: string, infos: ClaimInfos): ClaimInfo | undefined {
  const info = infos.get(claimKey({ namespace: metadata.namespace, name: claimName }));
  return info?.podUids.has(metadata.uid) === true ? info : undefined;
}
