/** Pod lists of the HTTP server: `/pods` from configuration and status, `/runningpods/` from the runtime. */
import type { Pod } from "../api.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";

/** A v1 PodList. Items carry no kind. */
export interface PodListDocument<Item> {
  readonly kind: "PodList";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, never>>;
  readonly items: readonly Item[];
}

/** An item of `/pods`. */
export type PodListItem = Pick<Pod, "metadata" | "spec"> & { readonly status: NonNullable<Pod["status"]> };

/** An item of `/runningpods/`, from the runtime only. */
export interface RunningPodItem {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: {
    /** `null` while only the sandbox runs. */
    readonly containers:
      | readonly {
          readonly name: string;
          readonly image: string;
          readonly resources: Readonly<Record<string, never>>;
        }[]
      | null;
  };
  readonly status: Readonly<Record<string, never>>;
}

const listOf = <Item>(items: readonly Item[]): PodListDocument<Item> => ({
  kind: "PodList",
  apiVersion: "v1",
  metadata: {},
  items,
});

/**
 * Returns the pods of this node with their status. Differs from upstream: without pods the items are `[]`, not `null`.
 */
export const podList = (pods: readonly Pod[]): PodListDocument<PodListItem> =>
  listOf(pods.map(({ metadata, spec, status }) => ({ metadata, spec, status: status ?? {} })));

/** Returns the pods with a ready sandbox or a running container, with their running containers, oldest first. */
export function runningPodList(statuses: readonly PodRuntimeStatus[]): PodListDocument<RunningPodItem> {
  const live = statuses.filter(
    ({ sandboxes, containers }) => sandboxes.some((each) => each.ready) || containers.some(isRunning),
  );
  return listOf(live.map(runningPod));
}

const isRunning = (container: PodRuntimeStatus["containers"][number]): boolean => container.state === "running";

function runningPod({ name, namespace, podUid, containers }: PodRuntimeStatus): RunningPodItem {
  const running = containers
    .filter(isRunning)
    .map((container) => ({ name: container.name, image: container.imageId, resources: {} }))
    .reverse();
  return {
    metadata: { name, namespace, uid: podUid },
    spec: { containers: running.length === 0 ? null : running },
    status: {},
  };
}
