/** Statuses of all containers of a sandbox. Bound: `AT_ONCE` inspections at a time. */
import type { ContainerStatus } from "../gen/cri.ts";
import { containerStatusMessage } from "./mapping/containerMessages.ts";
import { LABEL } from "./mapping/names.ts";
import type { Shim } from "./shim.ts";

const AT_ONCE = 16;

/** Inspects them; containers that are gone meanwhile are left out. */
export async function containerStatuses({ docker, facts }: Shim, sandboxId: string): Promise<ContainerStatus[]> {
  const listed = await docker.list({ [LABEL.sandboxId]: sandboxId });
  const statuses: ContainerStatus[] = [];
  for (let from = 0; from < listed.length; from += AT_ONCE) {
    const batch = await Promise.all(
      listed.slice(from, from + AT_ONCE).map(async ({ id }) => {
        const details = await docker.find("container", id);
        return details === undefined ? [] : [containerStatusMessage(details, await facts.of(details))];
      }),
    );
    statuses.push(...batch.flat());
  }
  return statuses;
}
