/**
 * The containers of a pod in one list. A spec and a status have three lists each; the order in which they are joined matters where a
 * reader stops at the first match, runs the containers one after the other, or prints them.
 */
import type { ApiContainerStatus, Container, PodSpec, PodStatus } from "../api.ts";
import { findNamed } from "../findNamed.ts";

type Main = Pick<PodSpec, "containers" | "initContainers">;
type All = Main & Pick<PodSpec, "ephemeralContainers">;

/** Whether an init container is a sidecar, which keeps running beside regular containers. Always false for the latter. */
export const isSidecar = ({ restartPolicy }: Pick<Container, "restartPolicy">): boolean => restartPolicy === "Always";

/**
 * Returns init and regular containers, in the order in which they start. Ephemeral containers are no part of the
 * workload: they have no resources, probes, hooks or restarts.
 */
export const podContainers = ({ initContainers = [], containers }: Main): readonly Container[] => [
  ...initContainers,
  ...containers,
];

/** Returns the containers of all three lists, in the order in which they start. */
export const allContainers = (spec: All): readonly Container[] => [
  ...podContainers(spec),
  ...(spec.ephemeralContainers ?? []),
];

/** Returns regular, then init containers: upstream collects resource names and resolves names of containers like this. */
export const regularFirst = ({ initContainers = [], containers }: Main): readonly Container[] => [
  ...containers,
  ...initContainers,
];

/** Returns regular, init and ephemeral containers: the order in which kubectl resolves the name of a container. */
export const allRegularFirst = (spec: All): readonly Container[] => [
  ...regularFirst(spec),
  ...(spec.ephemeralContainers ?? []),
];

const sidecars = ({ initContainers = [] }: Main): readonly Container[] => initContainers.filter(isSidecar);

/** Returns the containers that run beside each other for the life of the pod, in the order in which they start. */
export const lastingContainers = (spec: Main): readonly Container[] => [...sidecars(spec), ...spec.containers];

/** Returns regular containers, then sidecars: upstream maps their ports in this order. */
export const portContainers = (spec: Main): readonly Container[] => [...spec.containers, ...sidecars(spec)];

/** Returns the init or regular container of that name. */
export const findContainer = ({ initContainers, containers }: Main, name: string): Container | undefined =>
  findNamed(initContainers, name) ?? findNamed(containers, name);

/** Returns the statuses of init and regular containers, in the order in which the containers start. */
export const podContainerStatuses = (status: PodStatus | undefined): readonly ApiContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Returns the statuses of the containers of all three lists, in the order in which the containers start. */
export const allContainerStatuses = (status: PodStatus | undefined): readonly ApiContainerStatus[] => [
  ...podContainerStatuses(status),
  ...(status?.ephemeralContainerStatuses ?? []),
];
