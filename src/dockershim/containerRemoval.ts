/** Removes containers, with the links to their logs. */
import type { ContainerDetails } from "./engine/answers.ts";
import { unlinkLog } from "./logLinks.ts";
import type { Shim } from "./shim.ts";

/** Kills and removes a container; Docker removes its log with it. */
export async function removeContainer({ docker, cgroups }: Shim, details: ContainerDetails): Promise<void> {
  await unlinkLog(details);
  await docker.remove(details.id);
  await cgroups.forget(details.id);
}
