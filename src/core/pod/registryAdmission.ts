/**
 * Admission in the pod registry: decides which waiting pods start, wait or are rejected. Critical pods are decided
 * first, then the others in order of arrival. Resources promised to a pod are not given to later ones. Upstream:
 * HandlePodAdditions, canAdmitPod, allowPodStart.
 */
import { type Blocker, namesText } from "../admission/leavingPods.ts";
import {
  decideResources,
  type ResourceDecision,
  type ResourcesByPod,
  type TakenResources,
} from "../admission/resourceDecision.ts";
import { shortageRemarks } from "../admission/shortageRemarks.ts";
import type { Pod } from "../api.ts";
import { fullNameOf, type PodFullName, type PodUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import { isCriticalPod } from "./criticalPod.ts";
import { resourcesOfRecord } from "./podRecord.ts";
import type { PodIdentity, PodRecord, RegistryContext } from "./podRegistryTypes.ts";
import type { Remark } from "../topology/hardware.ts";
import type { HardwareDraft } from "./registryHardware.ts";

/** The registry as admission reads and changes it. */
export interface AdmissionSteps {
  readonly records: ReadonlyMap<PodUid, PodRecord>;
  readonly admit: RegistryContext["admit"];
  /** Returns the resources that each pod takes, except pods that wait to start. */
  resourcesByPod(): Map<PodUid, TakenResources>;
  /** Returns the pod that holds the full name. */
  holderOf(name: PodFullName): PodUid | undefined;
  /** Terminates pods of the same full name left by an earlier kubelet process. */
  endOlderIncarnations(identity: PodIdentity): void;
  /** Whether the pod was admitted before, so that admission is skipped. */
  isGranted(record: PodRecord): boolean;
  /** Returns the pod at its initial size. */
  startSize(record: PodRecord, pod: Pod): Pod;
  readonly hardware: Pick<HardwareDraft, "assign" | "keep" | "refusalOf">;
  start(uid: PodUid): void;
  /** Terminates a pod that was deleted before it started. */
  endUnstarted(uid: PodUid): void;
  /** `remarks`: the figures behind it, for the pod's timeline. */
  reject(uid: PodUid, reason: string, message: string, remarks?: readonly Remark[] | undefined): void;
  wait(uid: PodUid, behind: readonly Blocker[], remarks?: readonly Remark[] | undefined): void;
  preempt(uid: PodUid, victims: readonly PodUid[], shortOf: string): void;
}

/** Resources promised to pods that wait to start. */
export interface Promises {
  readonly resourcesByPod: ResourcesByPod;
  /** Terminating pods they wait for, whose resources are reserved for them. */
  readonly reserved: ReadonlySet<PodUid>;
}

const NO_PROMISES: Promises = { resourcesByPod: new Map(), reserved: new Set() };

/** Decides for all waiting pods for which a decision is possible now. */
export function admitWaiting(steps: AdmissionSteps): Promises {
  const { records } = steps;
  const waiting = [...records.values()].filter(({ state }) => state === "waiting").map(({ identity }) => identity);
  if (waiting.length === 0) return NO_PROMISES;
  for (const { uid } of waiting) if (isDeletedUnstarted(records.get(uid), steps)) steps.endUnstarted(uid);
  for (const identity of waiting) {
    const record = stillWaiting(records.get(identity.uid));
    if (record === undefined) continue;
    if (steps.holderOf(fullNameOf(record.identity)) === undefined) steps.endOlderIncarnations(identity);
    // Start running pods first, so their resources count before others are admitted.
    if (isNameFree(record, steps) && steps.isGranted(record)) {
      // A running pod is not judged again: without its hardware it shares that of others.
      steps.hardware.keep(identity.uid, steps.startSize(record, record.pod));
      steps.start(identity.uid);
    }
  }
  const left = waiting.flatMap(({ uid }) => stillWaiting(records.get(uid)) ?? []);
  return left.length === 0 ? NO_PROMISES : admitInOrder(left, steps);
}

const stillWaiting = (record: PodRecord | undefined): (PodRecord & { readonly pod: Pod }) | undefined =>
  record?.pod === undefined || record.state !== "waiting" ? undefined : { ...record, pod: record.pod };

const isDeletedUnstarted = (record: PodRecord | undefined, steps: AdmissionSteps): boolean =>
  record?.pod?.metadata.deletionTimestamp !== undefined && !steps.isGranted(record);

function isNameFree(record: PodRecord, steps: AdmissionSteps): boolean {
  const holder = steps.holderOf(fullNameOf(record.identity));
  return holder === undefined || holder === record.identity.uid;
}

function admitInOrder(waiting: readonly (PodRecord & { readonly pod: Pod })[], steps: AdmissionSteps): Promises {
  const resourcesByPod = steps.resourcesByPod();
  const promised = new Map<PodUid, TakenResources>();
  const reserved = new Set<PodUid>();
  /** Full names that an earlier pod waits for. */
  const names = new Set<PodFullName>();
  for (const record of byRank(waiting)) {
    const { uid } = record.identity;
    const name = fullNameOf(record.identity);
    const pod = steps.startSize(record, record.pod);
    const promise = (behind: readonly Blocker[]): void => {
      for (const awaited of behind) reserved.add(awaited.uid);
      resourcesByPod.set(uid, { promised: pod });
      promised.set(uid, { promised: pod });
    };
    const waitBehind = (behind: readonly Blocker[], remarks?: readonly Remark[] | undefined): void => {
      steps.wait(uid, behind, remarks);
      promise(behind);
      names.add(name);
    };
    if (names.has(name) || !isNameFree(record, steps)) {
      const mayBePromised = !names.has(name) && !resourcesByPod.has(uid) && isNameAboutToBeFree(record, steps);
      if (mayBePromised && wouldGetResources(pod, resourcesByPod, steps)) promise([]);
      steps.wait(uid, []);
      names.add(name);
      continue;
    }
    const decision = preemptAndDecide(uid, pod, resourcesByPod, reserved, steps);
    switch (decision.kind) {
      case "start": {
        const outcome = steps.hardware.assign(uid, pod);
        if (outcome.kind === "refused") {
          const { reason, message, remarks } = outcome.refusal;
          steps.reject(uid, reason, message, remarks);
        } else if (outcome.kind === "wait") waitBehind(outcome.behind, outcome.remarks);
        else if (outcome.kind === "preparing") {
          promise([]);
          names.add(name);
        } else {
          steps.start(uid);
          resourcesByPod.set(uid, { granted: pod, held: pod });
        }
        break;
      }
      case "reject": {
        const { reason, message, remarks } = rejectionOf(uid, pod, decision, resourcesByPod, steps);
        steps.reject(uid, reason, message, remarks);
        break;
      }
      case "preempt":
      case "wait":
        waitBehind(decision.kind === "wait" ? decision.behind : []);
        break;
      default:
        unreachable(decision);
    }
  }
  return { resourcesByPod: promised, reserved };
}

type Rejection = Pick<Extract<ResourceDecision, { readonly kind: "reject" }>, "reason" | "message"> & {
  readonly remarks?: readonly Remark[] | undefined;
};

/** Returns the reason of a rejection: for too little of something, that of the managers, which upstream asks first. */
function rejectionOf(
  uid: PodUid,
  pod: Pod,
  { reason, message }: Rejection,
  resourcesByPod: ResourcesByPod,
  steps: AdmissionSteps,
): Rejection {
  const remarks = shortageRemarks(reason, resourcesByPod);
  const refusal = remarks === undefined ? undefined : steps.hardware.refusalOf(uid, pod);
  const rejection = refusal ?? { reason, message, remarks };
  return { ...rejection, message: rejection.message + stuckText(pod, resourcesByPod, steps) };
}

/**
 * Orders critical pods first by descending priority, then all others by arrival. Differs from upstream: there, a
 * critical pod preempts earlier pods that have not even started here.
 */
function byRank<T extends { readonly pod: Pod }>(waiting: readonly T[]): readonly T[] {
  const rank = ({ pod }: T): number => (isCriticalPod(pod) ? (pod.spec.priority ?? 0) : -Infinity);
  return waiting.toSorted((a, b) => Math.sign(rank(b) - rank(a)) || 0);
}

/** Preempts the victims that the decision names, and returns the decision that follows. */
function preemptAndDecide(
  uid: PodUid,
  pod: Pod,
  resourcesByPod: Map<PodUid, TakenResources>,
  reserved: ReadonlySet<PodUid>,
  steps: AdmissionSteps,
): ResourceDecision {
  const decision = decideResources(pod, resourcesByPod, reserved, steps.admit);
  if (decision.kind !== "preempt") return decision;
  steps.preempt(uid, decision.pods, decision.shortOf);
  for (const victim of decision.pods) {
    const record = steps.records.get(victim);
    const resources = record && resourcesOfRecord(record);
    if (resources !== undefined) resourcesByPod.set(victim, resources);
  }
  return decideResources(pod, resourcesByPod, reserved, steps.admit);
}

/**
 * Whether a pod that waits only for its name would get its resources. Promising them keeps later pods from taking them.
 */
const wouldGetResources = (
  pod: Pod,
  resourcesByPod: Map<PodUid, TakenResources>,
  { admit }: AdmissionSteps,
): boolean => {
  const { kind } = decideResources(pod, resourcesByPod, new Set(), admit);
  return kind === "start" || kind === "wait";
};

function isNameAboutToBeFree(record: PodRecord, steps: AdmissionSteps): boolean {
  const holder = steps.holderOf(fullNameOf(record.identity));
  const { state, wanted, pod } = (holder === undefined ? undefined : steps.records.get(holder)) ?? {};
  const isGoing = state === "terminating" || state === "terminated";
  return isGoing && (wanted === false || pod?.metadata.deletionTimestamp !== undefined);
}

/** Names the pods that have not stopped in time, if the pod would fit without them. */
function stuckText(pod: Pod, resourcesByPod: ResourcesByPod, { admit }: AdmissionSteps): string {
  const isStuck = ({ leaving }: TakenResources): boolean => leaving?.overdueFor === "everyone";
  const stuck = [...resourcesByPod.values()].filter(isStuck);
  if (stuck.length === 0) return "";
  const others = new Map([...resourcesByPod].filter(([, resources]) => !isStuck(resources)));
  if (decideResources(pod, others, new Set(), admit).kind === "reject") return "";
  const names = stuck.flatMap(({ held }) =>
    held === undefined ? [] : [`${held.metadata.namespace}/${held.metadata.name}`],
  );
  return ` (pods that have not stopped in time: ${namesText(names)})`;
}
