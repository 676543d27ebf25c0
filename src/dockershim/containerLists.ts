/** ListContainers. Docker filters; the rest of CRI's filter is applied to its answer. */
import { type Container, ContainerFilter, ContainerState } from "../gen/cri.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import type { ContainerSummary } from "./engine/answers.ts";
import { completeStart, isHalfStarted } from "./containerStarts.ts";
import type { Listed, Look } from "./factsCache.ts";
import { dockerFilters, isWhole } from "./mapping/containerFilters.ts";
import { containerMessage, stateOfDetails, stateOfSummary } from "./mapping/containerMessages.ts";
import type { Shim } from "./shim.ts";

/**
 * Lists containers. A start that Docker does not end holds up no list: such a container is a created one. Completes what a killed
 * shim has left of a start.
 */
export async function listContainers(shim: Shim, given: ContainerFilter | undefined): Promise<Container[]> {
  const { docker, facts, cgroups, report } = shim;
  const filter = given ?? ContainerFilter.create();
  const { labels, ...others } = dockerFilters(filter);
  const marked = isWhole(filter) ? [...cgroups.marked()] : [];
  const listed = await docker.list(labels, others);
  const how = { isWhole: isWhole(filter), lookAt: (summary: ContainerSummary) => lookAt(shim, summary) };
  const found = await facts.ofListed("container", listed, how);
  for (const { details } of found.values()) if (details !== undefined) completeStart(shim, details);
  // Marks from before the list, whose containers were there.
  for (const id of marked)
    if (!found.has(id)) await cgroups.forget(id).catch((thrown: unknown) => report(messageOf(thrown)));
  return listed
    .flatMap((summary) => listedMessage(summary, found.get(summary.id)))
    .filter((each) => matches(each, filter));
}

function listedMessage(summary: ContainerSummary, seen: Listed | undefined): readonly Container[] {
  if (seen === undefined) return [];
  const inspected = seen.details === undefined ? ContainerState.CONTAINER_CREATED : stateOfDetails(seen.details);
  return [containerMessage(summary, stateOfSummary(summary) ?? inspected, seen.facts)];
}

/** Only an inspection tells a container that cannot be started from one that nobody has started yet. */
function lookAt(shim: Shim, summary: ContainerSummary): Look {
  const { id } = summary;
  const state = stateOfSummary(summary);
  if (state === undefined) return shim.unstarted.has(id) ? "never" : "always";
  return state === ContainerState.CONTAINER_RUNNING && isHalfStarted(shim, id) ? "always" : "once";
}

function matches(container: Container, filter: ContainerFilter): boolean {
  if (!container.id.startsWith(filter.id)) return false;
  if (!container.podSandboxId.startsWith(filter.podSandboxId)) return false;
  if (filter.state !== undefined && filter.state.state !== container.state) return false;
  return matchesLabels(container.labels, filter.labelSelector);
}
