/**
 * Answers and requests of device plugins, which are untrusted: each part has a bound.
 * Upstream: pkg/kubelet/cm/devicemanager/plugin/v1beta1.
 */
import { kubeletError } from "../errors.ts";
import type { ContainerAllocateResponse, ListAndWatchResponse, RegisterRequest } from "../../gen/devicePlugin.ts";
import { isExtendedResource } from "../pod/resourceNames.ts";
import { err, ok, type Result } from "../result.ts";
import type { Device } from "./deviceState.ts";

/** The version of the device plugin API. */
export const DEVICE_PLUGIN_VERSION = "v1beta1";

/** Largest number of devices of one resource. */
export const MAX_DEVICES = 20_000;
const MAX_ID_LENGTH = 253;
const MAX_NODES = 64;
/** Environment variables, mounts, device nodes, annotations or CDI devices of one container. */
const MAX_ITEMS = 4_096;
const MAX_TEXT_LENGTH = 64 * 1024;

/** A domain, a slash and a name, as Kubernetes wants them. */
const RESOURCE_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;

/** Returns why a plugin cannot offer this resource; undefined if it can. */
export const resourceNameFault = (name: string): string | undefined =>
  RESOURCE_NAME.test(name) && isExtendedResource(name)
    ? undefined
    : `the ResourceName "${name.slice(0, MAX_ID_LENGTH)}" is invalid`;

/** Returns why none of these versions is usable; undefined if one is. */
export const versionFault = (versions: readonly string[]): string | undefined =>
  versions.includes(DEVICE_PLUGIN_VERSION)
    ? undefined
    : `requested API version "${versions.join(", ").slice(0, MAX_ID_LENGTH)}" is not supported by kubelet. ` +
      `Supported version is ["${DEVICE_PLUGIN_VERSION}"]`;

/** Returns why a registration at kubelet.sock is refused; undefined accepts it. */
export function registrationFault({ version, endpoint, resourceName }: RegisterRequest): string | undefined {
  if (endpoint === "" || endpoint.includes("/") || endpoint.startsWith(".") || endpoint.length > MAX_ID_LENGTH) {
    return "the endpoint is no name of a socket in the directory of device plugins";
  }
  return versionFault([version]) ?? resourceNameFault(resourceName);
}

/** Returns the devices of a list, or why the list cannot be used. A later device of an id replaces an earlier one. */
export function devicesOfList({ devices }: ListAndWatchResponse): Result<readonly Device[]> {
  if (devices.length > MAX_DEVICES)
    return err(unusable(`a list of ${devices.length} devices, more than ${MAX_DEVICES}`));
  const found: Device[] = [];
  for (const { ID: id, health, topology } of devices) {
    if (id === "" || id.length > MAX_ID_LENGTH) return err(unusable(`a device ID of ${id.length} characters`));
    const places = topology?.nodes ?? [];
    if (places.length > MAX_NODES) return err(unusable(`a device of ${places.length} NUMA nodes`));
    found.push({ id, isHealthy: health === "Healthy", nodes: places.map(({ ID }) => Number(ID)) });
  }
  return ok(found);
}

/** Returns the settings of one container, or why they cannot be used. */
export function allocationOfAnswer(responses: readonly ContainerAllocateResponse[]): Result<ContainerAllocateResponse> {
  const [response] = responses;
  if (response === undefined)
    return err(kubeletError("InvalidArgument", "no containers return in allocation response"));
  const { envs, annotations, mounts, devices, cdiDevices } = response;
  const texts = [
    ...[envs, annotations].flatMap((entries) => Object.entries(entries).flat()),
    ...mounts.flatMap((mount) => [mount.containerPath, mount.hostPath]),
    ...devices.flatMap((device) => [device.containerPath, device.hostPath, device.permissions]),
    ...cdiDevices.map(({ name }) => name),
  ];
  if (texts.length > MAX_ITEMS) return err(unusable("an allocation response with too many settings"));
  if (texts.some((text) => text.length > MAX_TEXT_LENGTH)) {
    return err(unusable(`an allocation response with a text of more than ${MAX_TEXT_LENGTH} characters`));
  }
  return ok(response);
}

const unusable = (what: string) => kubeletError("InvalidArgument", `the device plugin sent ${what}`);
