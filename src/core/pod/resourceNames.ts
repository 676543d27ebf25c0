/** Classifies resources by name. Upstream: pkg/apis/core/helper. */
import type { Pod } from "../api.ts";

const HUGE_PAGES = "hugepages-";
const STANDARD: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Whether the resource is huge pages, such as `hugepages-2Mi`. */
export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Resources that a container may set under a name without a domain. */
export const isStandardContainerResource = (name: string): boolean => STANDARD.has(name) || isHugePages(name);

/** Resources that a pod may set at pod level. */
export const isPodLevelResource = (name: string): boolean => name === "cpu" || name === "memory" || isHugePages(name);

/** Whether a pod sets resources at pod level. */
export const hasPodLevelResources = ({ spec: { resources } }: Pod): boolean =>
  [resources?.requests, resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isPodLevelResource));

/** Whether the resource belongs to Kubernetes: it has no domain, or one of kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** Whether the resource has a domain of its own. A device plugin counts it in whole units. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith("requests.");

/** Whether a limit may exceed the request; false for huge pages and extended resources. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);
