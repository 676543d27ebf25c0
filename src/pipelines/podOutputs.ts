/** Outputs of a pod worker to the rest of the node. */
import type { OverdueFor } from "../core/admission/leavingPods.ts";
import type { Pod, PodStatus } from "../core/api.ts";
import type { Eviction } from "../core/eviction/evicted.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { PodUid } from "../core/ids.ts";
import type { PreparationOutcome, PreparationTask } from "../core/pod/registryPreparation.ts";
import type { LateRejection, ShutdownEnd } from "../core/pod/podRegistryTypes.ts";
import type { Remark } from "../core/topology/hardware.ts";
import type { PodFact } from "../core/timeline/timelineTypes.ts";

export type PodOutput =
  | { readonly kind: "status"; readonly uid: PodUid; readonly status: PodStatus }
  | { readonly kind: "event"; readonly event: KubeletEvent }
  /** A fact for the pod's timeline only. */
  | { readonly kind: "fact"; readonly uid: PodUid; readonly fact: PodFact }
  /** The pod needs an inspection, since one of our CRI calls has ended. */
  | { readonly kind: "inspect"; readonly uid: PodUid }
  /** The pod has terminated on its own. */
  | { readonly kind: "finished"; readonly uid: PodUid }
  /** The pod was active for longer than its activeDeadlineSeconds. */
  | { readonly kind: "deadlineExceeded"; readonly uid: PodUid }
  /** The pod is evicted. */
  | ({ readonly kind: "evicted" } & Eviction)
  /** The pod is ended because the node shuts down. */
  | ({ readonly kind: "shutDown" } & ShutdownEnd)
  /** The shutdown that ended or refused this static pod is cancelled. */
  | { readonly kind: "startAgain"; readonly uid: PodUid }
  | ({ readonly kind: "rejected" } & LateRejection)
  /** The node has as many volumes of a CSI driver as it can have. */
  | { readonly kind: "exhausted"; readonly driver: string }
  /** The allocated size of the pod is actuated. */
  | { readonly kind: "resized"; readonly uid: PodUid }
  /** The allocated size of this pod is on disk. */
  | { readonly kind: "kept"; readonly uid: PodUid; readonly pod: Pod }
  /** Plugins have ended a task for a pod that is being admitted. */
  | {
      readonly kind: "prepared";
      readonly uid: PodUid;
      readonly task: PreparationTask;
      readonly outcome: PreparationOutcome;
    }
  /** All containers and sandboxes of the pod have stopped. */
  | { readonly kind: "stopped"; readonly uid: PodUid }
  /** A pod whose resources other pods wait for has not stopped in time. */
  | { readonly kind: "overdue"; readonly uid: PodUid | undefined; readonly for: OverdueFor }
  /** A stopped pod holds no resources any more that another pod may need. */
  | { readonly kind: "reclaimed"; readonly uid: PodUid }
  /** The node has no remains of the pod; the worker ends. */
  | { readonly kind: "removed"; readonly uid: PodUid };

/** Returns the entries of the pod's timeline for the figures behind a decision. */
export const remarkOutputs = (uid: PodUid, remarks: readonly Remark[] = []): readonly PodOutput[] =>
  remarks.map((remark) => ({ kind: "fact", uid, fact: { kind: "remark", ...remark } }));

/** Wraps an event as an output. */
export const eventOutput = (event: KubeletEvent): PodOutput => ({ kind: "event", event });
