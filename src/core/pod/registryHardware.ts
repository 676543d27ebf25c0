/** Hardware of pods in the registry: whether a pod gets it now, or once a terminating pod has given it back. */
import type { AwaitedPod } from "../admission/leavingPods.ts";
import type { Pod } from "../api.ts";
import { type PodUid, podUid } from "../ids.ts";
import type { AssignHardware, HardwareRefusal, PodHardware } from "../topology/hardware.ts";
import { isTerminalPhase } from "./phase.ts";
import type { PodRecord } from "./podRegistryTypes.ts";
import type { RestoredPods } from "./registryResources.ts";

/** Whether a pod has its hardware; `wait`: once these pods have stopped, or this plugin has come back. */
export type HardwareOutcome =
  /** undefined: no container of this node gets hardware for itself. */
  | { readonly kind: "assigned"; readonly hardware: PodHardware | undefined }
  | { readonly kind: "wait"; readonly behind: readonly AwaitedPod[] }
  | { readonly kind: "refused"; readonly refusal: HardwareRefusal };

/** Decides about the hardware of one pod beside what all others have. */
export function decideHardware(
  uid: PodUid,
  pod: Pod,
  records: ReadonlyMap<PodUid, PodRecord>,
  restored: RestoredPods,
  assign: AssignHardware | undefined,
): HardwareOutcome {
  const isOver = isTerminalPhase(pod.status?.phase) && !restored.isRunning(uid);
  if (assign === undefined || isOver) return { kind: "assigned", hardware: undefined };
  const others = [...records.values()].filter(({ identity }) => identity.uid !== uid);
  const decide = (beside: readonly PodRecord[]): ReturnType<AssignHardware> =>
    assign(
      pod,
      [...beside.flatMap(({ hardware }) => hardware ?? []), ...restored.hardwareExceptOf(uid)],
      restored.hardwareOf(uid),
    );
  const assigned = decide(others);
  if ("hardware" in assigned) return { kind: "assigned", hardware: assigned.hardware };
  const leaving = others.flatMap(awaitedFor);
  const { awaits } = assigned.refusal;
  if (awaits !== undefined) return { kind: "wait", behind: [awaitedPlugin(awaits.plugin, awaits.until)] };
  const fitsLater = leaving.length > 0 && "hardware" in decide(others.filter((it) => awaitedFor(it).length === 0));
  return fitsLater ? { kind: "wait", behind: leaving } : { kind: "refused", refusal: assigned.refusal };
}

/** A device plugin in place of a pod: it has no UID, so its name is one that no pod has. */
const awaitedPlugin = (name: string, until: AwaitedPod["until"]): AwaitedPod => ({
  uid: podUid(`device plugin ${name}`),
  name,
  until,
  isPlugin: true,
});

/** Returns a terminating pod that gives back hardware as another one waits for it; else nothing. */
function awaitedFor({ identity, hardware, leaving }: PodRecord): readonly AwaitedPod[] {
  if (hardware === undefined || leaving === undefined || leaving.overdueFor !== undefined) return [];
  return [{ uid: identity.uid, name: `${identity.namespace}/${identity.name}`, until: leaving.due.everyone }];
}
