/**
 * Pods that take all resources that others leave: a scheduler binds them at once in place of pods that were deleted
 * by force. Together they request all that is free then; some also request devices and a host port. Plain data.
 */
import type { Pod, PodSpec } from "../../core/api.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import {
  parseResourceList,
  type ResourceAmounts,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";
import type { Prng } from "../prng.ts";
import type { SimSize } from "./workloadSizes.ts";

/** The resources that a tenant requests. */
export interface SimTenancy extends SimSize {
  /** Requests all devices of the node and a host port, so that only one such pod fits. */
  readonly isExclusive: boolean;
  readonly isCritical: boolean;
}

/** Devices of a simulated node, as a device plugin would register them. */
export const SIM_DEVICES = { "example.com/device": "4" };
const HOST_PORT = 9_000;
const CRITICAL_PRIORITY = 2_000_000_000;
const MIB = 1024n ** 2n;

/** Prefix of the names of tenants. */
const TENANT = "tenant-";
export const isTenant = (name: string): boolean => name.startsWith(TENANT);
export const tenantName = (number: number): string => `${TENANT}${number}`;

type Counted = Pick<Pod, "spec"> & { readonly status?: Pod["status"] };

/** Returns the resources of the node that these pods leave free. */
export function freeResources(allocatable: ResourceAmounts, pods: readonly Counted[]): SimSize {
  const amounts = parseResourceList(allocatable);
  const requests = pods.filter(({ status }) => !isTerminalPhase(status?.phase)).map((pod) => podRequests(pod));
  const cpuMilli = requests.reduce((left, each) => left - resourceMilli(each, "cpu"), resourceMilli(amounts, "cpu"));
  const memory = requests.reduce(
    (left, each) => left - resourceValue(each, "memory"),
    resourceValue(amounts, "memory"),
  );
  return { cpuMilli: Number(cpuMilli), memoryMib: Number(memory / MIB) };
}

/** Returns one to three tenants that fill the free resources; none if there is nothing to fill. */
export function drawTenants(prng: Prng, free: SimSize): readonly SimTenancy[] {
  const count = prng.pick([1, 1, 2, 3]);
  const share: SimSize = { cpuMilli: Math.floor(free.cpuMilli / count), memoryMib: Math.floor(free.memoryMib / count) };
  if (share.cpuMilli <= 0 || share.memoryMib <= 0) return [];
  const isExclusive = prng.chance(0.5);
  return Array.from({ length: count }, (_, index) => ({
    ...share,
    isExclusive: isExclusive && index === 0,
    isCritical: prng.chance(0.1),
  }));
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the spec of a pod of one container that requests these resources. */
export function tenantSpec(spec: Fields, tenancy: SimTenancy | undefined): Fields {
  if (tenancy === undefined) return spec;
  const { cpuMilli, memoryMib, isExclusive, isCritical } = tenancy;
  const { containers } = spec as unknown as PodSpec;
  const devices = isExclusive ? SIM_DEVICES : {};
  const requests = { cpu: `${cpuMilli}m`, memory: `${memoryMib}Mi`, ...devices };
  const ports = isExclusive ? { ports: [{ containerPort: HOST_PORT, hostPort: HOST_PORT }] } : {};
  return {
    ...spec,
    ...(isCritical ? { priority: CRITICAL_PRIORITY } : {}),
    containers: containers.map((container) => ({ ...container, ...ports, resources: { requests, limits: devices } })),
  };
}
