/**
 * Allocatable of the node: capacity less the reservations for Kubernetes and the system, less the hard eviction
 * thresholds. commands/nodeAmountsOf.ts computes it once at start. Upstream:
 * pkg/kubelet/cm/node_container_manager_linux.go, pkg/kubelet/nodestatus/setters.go.
 */
import { shareOf } from "../eviction/thresholds.ts";
import {
  type Quantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityOf,
  quantityValue,
  subtractQuantity,
} from "../quantity.ts";
import {
  type ResourceAmounts,
  type ResourceList,
  addResources,
  parseResourceList,
  resourceAmounts,
} from "./resourceList.ts";

/** The inputs of allocatable; amounts are Kubernetes quantities. */
export interface NodeReservations {
  readonly capacity: ResourceAmounts;
  readonly kubeReserved?: ResourceAmounts | undefined;
  readonly systemReserved?: ResourceAmounts | undefined;
  /** Hard thresholds by signal, as amount or percentage: `memory.available: 100Mi`, `nodefs.available: 10%`. */
  readonly evictionHard?: Readonly<Record<string, string>> | undefined;
}

const RESOURCE_OF_SIGNAL: ReadonlyMap<string, string> = new Map([
  ["memory.available", "memory"],
  ["nodefs.available", "ephemeral-storage"],
]);

function percentageOf(text: string, capacity: Quantity): Quantity | undefined {
  const share = shareOf(text);
  if (!Number.isFinite(share)) return undefined;
  return quantityOf(BigInt(Math.trunc(Number(quantityValue(capacity)) * share)), "BinarySI");
}

/** Returns the amounts that hard eviction reserves, by resource. */
function evictionReservation(evictionHard: Readonly<Record<string, string>>, capacity: ResourceList): ResourceList {
  const reserved = new Map<string, Quantity>();
  for (const [signal, threshold] of Object.entries(evictionHard)) {
    const name = RESOURCE_OF_SIGNAL.get(signal);
    const total = name === undefined ? undefined : capacity.get(name);
    if (name === undefined || total === undefined) continue;
    const amount = threshold.endsWith("%") ? percentageOf(threshold, total) : parseQuantity(threshold);
    if (amount !== undefined) reserved.set(name, amount);
  }
  return reserved;
}

function subtractAll(capacity: ResourceList, reservations: readonly ResourceList[]): ResourceList {
  const left = [...capacity].map(([name, total]): [string, Quantity] => {
    const rest = reservations.reduce((sum, reserved) => {
      const amount = reserved.get(name);
      return amount === undefined ? sum : subtractQuantity(sum, amount);
    }, total);
    return [name, rest.nano < 0n ? { ...rest, nano: 0n } : rest];
  });
  return new Map(left);
}

/**
 * Returns the resources of all pods together: capacity less reservations, without eviction thresholds. This is the
 * limit of `/kubepods`.
 */
export function resourcesForPods(node: NodeReservations): ResourceList {
  const reservations = [parseResourceList(node.kubeReserved), parseResourceList(node.systemReserved)];
  return subtractAll(parseResourceList(node.capacity), reservations);
}

/** Returns the reservations and hard eviction thresholds together. Upstream: GetNodeAllocatableReservation. */
export function keptFromPods(node: NodeReservations): ResourceList {
  const capacity = parseResourceList(node.capacity);
  return [
    parseResourceList(node.kubeReserved),
    parseResourceList(node.systemReserved),
    evictionReservation(node.evictionHard ?? {}, capacity),
  ].reduce(addResources);
}

/**
 * Returns why the reservations are invalid: they exceed the machine's capacity of some resource. Upstream:
 * validateNodeAllocatable.
 */
export function reservationFault(node: NodeReservations): string | undefined {
  const capacity = parseResourceList(node.capacity);
  const reserved = keptFromPods(node);
  const faults = [...capacity].flatMap(([name, total]) => {
    const amount = reserved.get(name);
    if (amount === undefined || compareQuantity(amount, total) <= 0) return [];
    const [want, have] = [formatQuantity(amount), formatQuantity(total)];
    return `Resource "${name}" has a reservation of ${want} but capacity of ${have}. Expected capacity >= reservation.`;
  });
  return faults.length === 0 ? undefined : `invalid Node Allocatable configuration. ${faults.join(" ")}`;
}

/** Returns the node's allocatable in wire form, never below 0; preallocated huge pages are subtracted from memory. */
export function nodeAllocatable(node: NodeReservations): ResourceAmounts {
  const capacity = parseResourceList(node.capacity);
  const eviction = evictionReservation(node.evictionHard ?? {}, capacity);
  const hugepages = [...capacity].filter(([name]) => name.startsWith("hugepages-"));
  const allocatable = subtractAll(capacity, [
    parseResourceList(node.kubeReserved),
    parseResourceList(node.systemReserved),
    eviction,
    ...hugepages.map(([, pages]): ResourceList => new Map([["memory", pages]])),
  ]);
  return resourceAmounts(allocatable);
}
