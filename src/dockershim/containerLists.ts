/** ListContainers. Docker filters; the rest of CRI's filter is applied to its answer. */
import { type Container, ContainerFilter, ContainerState } from "../gen/cri.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import type { ContainerSummary } from "./engine/answers.ts";
import type { Look } from "./factsCache.ts";
import { dockerFilters, isWhole } from "./mapping/containerFilters.ts";
import { containerMessage, stateOfDetails, stateOfSummary } from "./mapping/containerMessages.ts";
import type { Shim } from "./shim.ts";

/** Lists containers. A start that Docker does not end holds up no list: such a container is a created one. */
export async function listContainers(shim: Shim, given: ContainerFilter | undefined): Promise<Container[]> {
  const filter = given ?? ContainerFilter.create();
  const { labels, ...others } = dockerFilters(filter);
  const listed = await shim.docker.list(labels, others);
  const how = { isWhole: isWhole(filter), lookAt: (summary: ContainerSummary) => lookAt(shim, summary) };
  const found = await shim.facts.ofListed("container", listed, how);
  return listed
    .flatMap((summary) => {
      const seen = found.get(summary.id);
      if (seen === undefined) return [];
      const state =
        stateOfSummary(summary) ?? (seen.details ? stateOfDetails(seen.details) : ContainerState.CONTAINER_CREATED);
      return [containerMessage(summary, state, seen.facts)];
    })
    .filter((container) => matches(container, filter));
}

/** Only an inspection tells a container that cannot be started from one that nobody has started yet. */
function lookAt({ unstarted }: Shim, summary: ContainerSummary): Look {
  if (stateOfSummary(summary) !== undefined) return "once";
  return unstarted.has(summary.id) ? "never" : "always";
}

function matches(container: Container, filter: ContainerFilter): boolean {
  if (!container.id.startsWith(filter.id)) return false;
  if (!container.podSandboxId.startsWith(filter.podSandboxId)) return false;
  if (filter.state !== undefined && filter.state.state !== container.state) return false;
  return matchesLabels(container.labels, filter.labelSelector);
}
