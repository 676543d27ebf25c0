/** Kill actions for containers, and the probe verdict that may cause them. */
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { ContainerKill, ProbeVerdict } from "./podActionsTypes.ts";

/** Returns the action that kills this instance. `message` is the text of the Killing event. */
export const killOf = (
  container: RuntimeContainer,
  message: string,
  reason: ContainerKill["reason"],
): ContainerKill => ({ containerId: container.id, name: container.name, message, reason });

/** Returns the probe verdict on this instance; undefined when there is none yet. */
export function verdictOn(
  container: RuntimeContainer,
  verdicts: ReadonlyMap<string, ProbeVerdict>,
): ProbeVerdict | undefined {
  const verdict = verdicts.get(container.name);
  const isOfAnother = verdict?.containerId !== undefined && verdict.containerId !== container.id;
  return isOfAnother ? undefined : verdict;
}
