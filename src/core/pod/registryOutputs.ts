/** Collects the outputs of one registry step besides the next registry and its resizes. A part of RegistryDraft. */
import type { PodUid } from "../ids.ts";
import type { PodCommand, PodRejection, PreemptedPod, RegistryStep, ResourceWait } from "./podRegistryTypes.ts";
import type { PreparationChange } from "./registryPreparation.ts";

/** Output lists that grow during the step. */
export class RegistryOutputs implements Omit<RegistryStep, "registry" | "resizes" | "resizeTrigger"> {
  readonly commands: PodCommand[] = [];
  readonly rejections: PodRejection[] = [];
  readonly preempted: PreemptedPod[] = [];
  readonly preparations: PreparationChange[] = [];
  readonly resourceWaits: ResourceWait[] = [];
  readonly dropped: PodUid[] = [];
  readonly orphans: PodUid[] = [];
  readonly restarted: PodUid[] = [];

  /** Sends the current state to the worker of a syncing pod, replacing an earlier sync command of this step. */
  sync({ restoredSize, ...command }: PodCommand & { readonly phase: "sync" }): void {
    const { uid } = command.identity;
    const reported = this.commands.findIndex((each) => each.phase === "sync" && each.identity.uid === uid);
    const [before] = reported < 0 ? [] : this.commands.splice(reported, 1);
    const from = restoredSize ?? (before?.phase === "sync" ? before.restoredSize : undefined);
    this.commands.push({ ...command, ...(from === undefined ? {} : { restoredSize: from }) });
  }
}
