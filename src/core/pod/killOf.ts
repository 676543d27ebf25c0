/** One container to kill, and the probe verdict that may be why. */
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { ContainerKill, ProbeVerdict } from "./podActionsTypes.ts";

/** The order to kill this instance; `message` is what the Killing event says. */
export const killOf = (
  container: RuntimeContainer,
  message: string,
  reason: ContainerKill["reason"],
): ContainerKill => ({ containerId: container.id, name: container.name, message, reason });

/** The verdict on this very instance; undefined when there is none yet. */
export function verdictOn(
  container: RuntimeContainer,
  verdicts: ReadonlyMap<string, ProbeVerdict>,
): ProbeVerdict | undefined {
  const verdict = verdicts.get(container.name);
  const isOfAnother = verdict?.containerId !== undefined && verdict.containerId !== container.id;
  return isOfAnother ? undefined : verdict;
}
