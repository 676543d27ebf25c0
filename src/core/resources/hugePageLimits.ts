/** Huge pages as cgroups count them, by the size of a page as the kernel writes it: `2MB`. Counterpart: HugePageLimits of pkg/kubelet/cm. */
import { parseQuantity, quantityValue } from "../quantity.ts";
import { type ResourceList, resourceValue } from "./resourceList.ts";

const PREFIX = "hugepages-";
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** A size as resources name it, `2Mi`, as cgroups do: `2MB`; undefined for what is no size. */
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

/** Bytes of each size that the list names. */
export function hugePageLimits(resources: ResourceList): Readonly<Record<string, number>> {
  const limits: Record<string, number> = {};
  for (const name of resources.keys()) {
    const unit = name.startsWith(PREFIX) ? unitOf(name.slice(PREFIX.length)) : undefined;
    if (unit !== undefined) limits[unit] = (limits[unit] ?? 0) + Number(resourceValue(resources, name));
  }
  return limits;
}
