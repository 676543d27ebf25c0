/** What kinds of resources there are, by their names. Counterpart: pkg/apis/core/helper. */
import type { Container, Pod } from "../api.ts";

const HUGE_PAGES = "hugepages-";
const STANDARD: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** `hugepages-2Mi` and its like. */
export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Resources a container may state under a name without a domain. */
export const isStandardContainerResource = (name: string): boolean => STANDARD.has(name) || isHugePages(name);

/** Resources a pod may state for itself. */
export const isPodLevelResource = (name: string): boolean => name === "cpu" || name === "memory" || isHugePages(name);

/** Whether a pod states resources of its own, beside those of its containers. */
export const hasPodLevelResources = ({ spec: { resources } }: Pod): boolean =>
  [resources?.requests, resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isPodLevelResource));

/** Resources of Kubernetes itself: no domain, or one of kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** Resources of a domain of its own, counted in whole units by a device plugin. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith("requests.");

/** Whether a limit may exceed the request: not for huge pages and extended resources. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

/** True for sidecars: init containers that keep running beside the others. */
export const isRestartableInit = (container: Container): boolean => container.restartPolicy === "Always";
