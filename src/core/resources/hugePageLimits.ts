/**
 * Huge page limits of cgroups, by page size as the kernel writes it (`2MB`). Upstream: HugePageLimits of
 * pkg/kubelet/cm.
 */
import { parseQuantity, quantityValue } from "../quantity.ts";
import { type ResourceList, resourceValue } from "./resourceList.ts";

const PREFIX = "hugepages-";
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** Converts a page size from Kubernetes' form, `2Mi`, to the cgroup form, `2MB`; undefined when it is not a size. */
function unitOf(pageSize: string): string | undefined {
  const quantity = parseQuantity(pageSize);
  if (quantity === undefined) return undefined;
  let size = quantityValue(quantity);
  let unit = 0;
  while (size >= 1024n && unit < UNITS.length - 1) {
    size /= 1024n;
    unit += 1;
  }
  return `${size}${UNITS[unit]}`;
}

/** Returns the limit in bytes of each page size in the list. */
export function hugePageLimits(resources: ResourceList): Readonly<Record<string, number>> {
  const limits: Record<string, number> = {};
  for (const name of resources.keys()) {
    const unit = name.startsWith(PREFIX) ? unitOf(name.slice(PREFIX.length)) : undefined;
    if (unit !== undefined) limits[unit] = (limits[unit] ?? 0) + Number(resourceValue(resources, name));
  }
  return limits;
}
