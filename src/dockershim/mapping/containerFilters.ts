/** Filters of CRI as filters of Docker's lists, which then tell of fewer containers. Pure. */
import { type ContainerFilter, ContainerState } from "../../gen/cri.ts";
import { CONTAINER, LABEL } from "./names.ts";

/** Filters of Docker's list of containers; an absent one lets all pass. */
export interface DockerFilters {
  readonly labels: Readonly<Record<string, string>>;
  /** The whole id. */
  readonly id?: string;
  /** Docker's words for states, any of which fits. */
  readonly states?: readonly string[];
}

const WHOLE_ID = /^[0-9a-f]{64}$/;
/** Bounds of what becomes part of a request. */
const MAX_LABELS = 32;
const MAX_LABEL = 1_024;

/** A container that was created has ended where it could not be started. */
const STATES: Readonly<Partial<Record<ContainerState, readonly string[]>>> = {
  [ContainerState.CONTAINER_CREATED]: ["created"],
  [ContainerState.CONTAINER_RUNNING]: ["running", "paused"],
  [ContainerState.CONTAINER_EXITED]: ["exited", "dead", "created"],
};

/** Returns filters that let pass each container for which the filter of CRI is true, and few others. */
export function dockerFilters({ id, podSandboxId, labelSelector, state }: ContainerFilter): DockerFilters {
  // Docker ends the key at the first sign of equality.
  const labels = Object.entries(labelSelector)
    .filter(([key, value]) => !key.includes("=") && key.length + value.length <= MAX_LABEL)
    .slice(0, MAX_LABELS);
  const states = state === undefined ? undefined : STATES[state.state];
  return {
    labels: {
      ...Object.fromEntries(labels),
      ...(WHOLE_ID.test(podSandboxId) ? { [LABEL.sandboxId]: podSandboxId } : {}),
      [LABEL.type]: CONTAINER,
    },
    // Docker lists nothing for the beginning of several ids.
    ...(WHOLE_ID.test(id) ? { id } : {}),
    ...(states === undefined ? {} : { states }),
  };
}

/** Whether the filter lets all containers pass. */
export const isWhole = ({ id, podSandboxId, labelSelector, state }: ContainerFilter): boolean =>
  id === "" && podSandboxId === "" && state === undefined && Object.keys(labelSelector).length === 0;
