/**
 * Downward API: fields of the pod and resources of its containers as text. Counterparts: pkg/fieldpath,
 * pkg/api/v1/resource.
 */
import type { Container, Pod } from "../api.ts";
import { byNodeFamily } from "../pod/podAddresses.ts";
import { parseQuantity, quantityMilli, quantityValue } from "../quantity.ts";
import { type ResourceAmounts, type ResourceList, parseResourceList } from "../resources/resourceList.ts";
import { goQuote } from "./goJson.ts";

type ResourceFieldRef = NonNullable<
  NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>["resourceFieldRef"]
>;

/** What fields say that is not on the pod object. */
export interface PodAddresses {
  /** Primary first; empty until the sandbox has them. */
  readonly podIps: readonly string[];
  /** Primary first. */
  readonly nodeIps: readonly string[];
}

/** A map as downward API text: `key="value"` lines sorted by key. */
export function formatStringMap(map: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => `${key}=${goQuote(value)}`).join("\n");
}

/** The field of the pod at `fieldPath`; undefined when there is no such field for containers to read. */
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

/** What a container without a limit is told the node's of. Of huge pages one always has a limit, if only none. */
const DEFAULTED: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Limits as a container sees them: what it has none of, the node limits. */
function effectiveLimits(container: Container, allocatable: ResourceAmounts): ResourceList {
  const own = [...parseResourceList(container.resources?.limits)].filter(([, limit]) => limit.nano !== 0n);
  const defaults = [...parseResourceList(allocatable)].filter(([name]) => DEFAULTED.has(name));
  return new Map([...defaults, ...own]);
}

/** What variables, other than files, name as the node's: the limits of the pod as a whole come first. */
export function allocatableToPod({ spec }: Pod, allocatable: ResourceAmounts): ResourceAmounts {
  const { limits = {} } = spec.resources ?? {};
  const isLimited = (name: string): boolean => (parseQuantity(limits[name] ?? "0")?.nano ?? 0n) !== 0n;
  const names = ["cpu", "memory"].filter((name) => name in allocatable && isLimited(name));
  return { ...allocatable, ...Object.fromEntries(names.map((name) => [name, limits[name] ?? ""])) };
}

/**
 * A container's request or limit divided by the divisor, rounded up. Undefined when the container or resource does
 * not exist, or the divisor is not a positive quantity.
 */
export function resourceFieldText(
  pod: Pod,
  self: Container,
  ref: ResourceFieldRef,
  allocatable: ResourceAmounts,
): string | undefined {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const container = ref.containerName ? containers.find(({ name }) => name === ref.containerName) : self;
  const [, kind, name] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(ref.resource) ?? [];
  const divisor = parseQuantity(ref.divisor === undefined || ref.divisor === "0" ? "1" : ref.divisor);
  if (container === undefined || name === undefined || divisor === undefined || divisor.nano <= 0n) return undefined;
  const amounts =
    kind === "limits" ? effectiveLimits(container, allocatable) : parseResourceList(container.resources?.requests);
  const amount = amounts.get(name);
  if (amount === undefined) return "0";
  const inUnits = name === "cpu" ? quantityMilli : quantityValue;
  return String((inUnits(amount) + inUnits(divisor) - 1n) / inUnits(divisor));
}
