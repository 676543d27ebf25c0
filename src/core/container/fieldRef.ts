/**
 * Downward API: fields of the pod and resources of its containers as text. Upstream: pkg/fieldpath,
 * pkg/api/v1/resource.
 */
import type { Container, Pod } from "../api.ts";
import { regularFirst } from "../pod/containers.ts";
import { byNodeFamily } from "../pod/podAddresses.ts";
import { perObject } from "../perObject.ts";
import { parseQuantity, type Quantity, quantityMilli, quantityValue } from "../quantity.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { goQuote } from "./goJson.ts";

type ResourceFieldRef = NonNullable<
  NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>["resourceFieldRef"]
>;

/** Values of fields that are not on the pod object. */
export interface PodAddresses {
  /** Primary first; empty until the sandbox has its IPs. */
  readonly podIps: readonly string[];
  /** Primary first. */
  readonly nodeIps: readonly string[];
}

/** Formats a map as downward API text: `key="value"` lines sorted by key. */
export function formatStringMap(map: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => `${key}=${goQuote(value)}`).join("\n");
}

/** Returns the pod field at `fieldPath`; undefined when the downward API does not support it. */
export function podFieldText(pod: Pod, fieldPath: string, addresses: PodAddresses): string | undefined {
  const { metadata, spec } = pod;
  const member = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(fieldPath);
  if (member !== null) {
    const map = member[1] === "labels" ? metadata.labels : metadata.annotations;
    return map?.[member[2] ?? ""] ?? "";
  }
  switch (fieldPath) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace;
    case "metadata.uid":
      return metadata.uid;
    case "metadata.labels":
      return formatStringMap(metadata.labels);
    case "metadata.annotations":
      return formatStringMap(metadata.annotations);
    case "spec.nodeName":
      return spec.nodeName ?? "";
    case "spec.serviceAccountName":
      return spec.serviceAccountName ?? "";
    case "status.hostIP":
      return addresses.nodeIps[0] ?? "";
    case "status.hostIPs":
      return addresses.nodeIps.join(",");
    case "status.podIP":
      return byNodeFamily(addresses.podIps, addresses.nodeIps)[0] ?? "";
    case "status.podIPs":
      return byNodeFamily(addresses.podIps, addresses.nodeIps).join(",");
    default:
      return undefined;
  }
}

/** Resources whose missing limit defaults to the node's allocatable. Huge pages always have a limit, by default 0. */
const DEFAULTED: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

const amountIn = (amounts: ResourceAmounts | undefined, name: string): Quantity | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, name) ? parseQuantity(amounts[name] ?? "") : undefined;

/** Returns a container's limit, with the default for a missing one. */
function effectiveLimit(container: Container, allocatable: ResourceAmounts, name: string): Quantity | undefined {
  const own = amountIn(container.resources?.limits, name);
  if (own !== undefined && own.nano !== 0n) return own;
  return DEFAULTED.has(name) ? amountIn(allocatable, name) : undefined;
}

/**
 * Returns the defaults for environment variables: pod-level limits override the node's allocatable. Files do not use
 * this.
 */
export function allocatableToPod({ spec }: Pod, allocatable: ResourceAmounts): ResourceAmounts {
  const { limits = {} } = spec.resources ?? {};
  const isLimited = (name: string): boolean => (parseQuantity(limits[name] ?? "0")?.nano ?? 0n) !== 0n;
  const names = ["cpu", "memory"].filter((name) => name in allocatable && isLimited(name));
  return { ...allocatable, ...Object.fromEntries(names.map((name) => [name, limits[name] ?? ""])) };
}

/** Returns the regular and init containers by name. When two share a name, the first counts. */
export const containersByName = perObject(
  (spec: Pod["spec"]): ReadonlyMap<string, Container> =>
    new Map(
      regularFirst(spec)
        .toReversed()
        .map((container) => [container.name, container]),
    ),
);

/**
 * Returns a container's request or limit divided by the divisor, rounded up. undefined when the container or resource
 * does not exist, or the divisor is not a positive quantity.
 */
export function resourceFieldText(
  pod: Pod,
  self: Container,
  ref: ResourceFieldRef,
  allocatable: ResourceAmounts,
): string | undefined {
  const container = ref.containerName ? containersByName(pod.spec).get(ref.containerName) : self;
  const [, kind, name] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(ref.resource) ?? [];
  const divisor = parseQuantity(ref.divisor === undefined || ref.divisor === "0" ? "1" : ref.divisor);
  if (container === undefined || name === undefined || divisor === undefined || divisor.nano <= 0n) return undefined;
  const amount =
    kind === "limits" ? effectiveLimit(container, allocatable, name) : amountIn(container.resources?.requests, name);
  if (amount === undefined) return "0";
  const inUnits = name === "cpu" ? quantityMilli : quantityValue;
  return String((inUnits(amount) + inUnits(divisor) - 1n) / inUnits(divisor));
}
