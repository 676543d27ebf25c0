/**
 * Which pods this node has and in which phase each worker should be: a pure state machine, the only place where phases
 * change. Owner: pipelines/podLifecycle. Bound: one record per desired or running pod. Counterpart: pod_workers.go.
 *
 *     (source ADD) -> waiting -> syncing -> terminating -> terminated -> (removed)
 *                        |          finished ^  ^ REMOVE       kept until REMOVE
 *                        +-> rejected                          (same uid wanted again: starts over)
 */
import type { Pod } from "../api.ts";
import { type PodFullName, type PodUid, podFullName, podUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import type { AdmissionResult } from "../admission/admit.ts";
import { DEADLINE_EXCEEDED } from "./activeDeadline.ts";
import { containerGraceSeconds } from "./gracePeriod.ts";
import type { PodUpdate } from "./podUpdate.ts";
import type { StatusOverride } from "./status.ts";

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

export type PodRecordState = "waiting" | "rejected" | "syncing" | "terminating" | "terminated";

export interface PodRecord {
  readonly identity: PodIdentity;
  /** Latest spec; undefined for an orphan, known from the runtime alone. */
  readonly pod: Pod | undefined;
  readonly state: PodRecordState;
  /** False once its source no longer has it: everything of it is to go. */
  readonly wanted: boolean;
  /** Grace in force while terminating; only ever shrinks. undefined: an orphan's default. */
  readonly graceSeconds: number | undefined;
  /** The same UID wanted again while its worker still ends. */
  readonly successor: Pod | undefined;
}

/** What a worker is told. Within a phase newer commands replace older ones. */
export type PodCommand =
  | { readonly phase: "sync"; readonly identity: PodIdentity; readonly pod: Pod }
  | {
      readonly phase: "terminating";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      readonly graceSeconds: number | undefined;
      /** A decision of the kubelet's own that the status tells of. */
      readonly override: StatusOverride | undefined;
    }
  | {
      readonly phase: "terminated";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      /** Remove containers, logs and directories, then end the worker. */
      readonly remove: boolean;
    };

export interface PodRejection {
  readonly pod: Pod;
  readonly reason: string;
  readonly message: string;
}

export type RegistryInput =
  | { readonly kind: "update"; readonly update: PodUpdate }
  /** Every container that should run has run to its end. */
  | { readonly kind: "finished"; readonly uid: PodUid }
  /** The pod was active for longer than it may be. */
  | { readonly kind: "deadlineExceeded"; readonly uid: PodUid }
  /** Nothing of the pod runs any more. */
  | { readonly kind: "stopped"; readonly uid: PodUid }
  /** The worker has removed everything and ended. */
  | { readonly kind: "removed"; readonly uid: PodUid }
  /** The runtime was listed while all sources were known: pods nobody wants end now. */
  | { readonly kind: "audit" }
  /** The node is emptied: nothing is wanted any more. */
  | { readonly kind: "drain" };

export interface RegistryContext {
  readonly admit: (pod: Pod, active: readonly Pod[]) => AdmissionResult;
  /** Pods with anything in the runtime, as last seen. */
  readonly runtimePods: readonly ListedPod[];
}

export interface Registry {
  readonly records: ReadonlyMap<PodUid, PodRecord>;
  /** Which UID runs, or ends, under a static pod's full name. */
  readonly holders: ReadonlyMap<PodFullName, PodUid>;
}

export interface RegistryStep {
  readonly registry: Registry;
  readonly commands: readonly PodCommand[];
  readonly rejections: readonly PodRejection[];
  /** Pods that never had a worker and are no longer wanted. */
  readonly dropped: readonly PodUid[];
  /** Pods of which only the runtime knew. */
  readonly orphans: readonly PodUid[];
  /** Pods that start over under the UID they had before. */
  readonly restarted: readonly PodUid[];
}

const ADMITTED: AdmissionResult = { admitted: true, preempt: [] };
const PREEMPTED: StatusOverride = {
  phase: "Failed",
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
};

export const emptyRegistry: Registry = { records: new Map(), holders: new Map() };

/** Advances the registry by one input. Never throws. */
export function advanceRegistry(registry: Registry, input: RegistryInput, context: RegistryContext): RegistryStep {
  // The usual audit finds nothing, and wakes nobody.
  if (input.kind === "audit" && context.runtimePods.every(({ podUid: uid }) => registry.records.has(uid))) {
    return { registry, commands: [], rejections: [], dropped: [], orphans: [], restarted: [] };
  }
  const draft = new RegistryDraft(registry, context);
  switch (input.kind) {
    case "update":
      applyUpdate(draft, input.update);
      break;
    case "finished":
      draft.end(input.uid);
      break;
    case "deadlineExceeded":
      draft.end(input.uid, { override: DEADLINE_EXCEEDED });
      break;
    case "stopped":
      draft.stopped(input.uid);
      break;
    case "removed":
      draft.removed(input.uid);
      break;
    case "audit":
      for (const orphan of context.runtimePods) if (!draft.records.has(orphan.podUid)) draft.adoptOrphan(orphan);
      break;
    case "drain":
      for (const uid of [...draft.records.keys()]) draft.unwanted(uid);
      break;
    default:
      unreachable(input);
  }
  return draft.finish();
}

function applyUpdate(draft: RegistryDraft, update: PodUpdate): void {
  for (const pod of update.pods) {
    const uid = podUid(pod.metadata.uid);
    switch (update.op) {
      case "SET":
      case "ADD":
      case "RESTORE":
        draft.add(pod);
        break;
      case "UPDATE":
      case "RECONCILE":
        draft.update(uid, pod);
        break;
      case "DELETE":
        draft.update(uid, pod);
        draft.end(uid, { graceSeconds: pod.metadata.deletionGracePeriodSeconds });
        break;
      case "REMOVE":
        draft.unwanted(uid);
        break;
      default:
        unreachable(update.op);
    }
  }
}

/** The step being taken: a private copy that becomes the next registry. */
class RegistryDraft {
  readonly records: Map<PodUid, PodRecord>;
  readonly #holders: Map<PodFullName, PodUid>;
  readonly #context: RegistryContext;
  readonly #commands: PodCommand[] = [];
  readonly #rejections: PodRejection[] = [];
  readonly #dropped: PodUid[] = [];
  readonly #orphans: PodUid[] = [];
  readonly #restarted: PodUid[] = [];

  constructor(registry: Registry, context: RegistryContext) {
    this.records = new Map(registry.records);
    this.#holders = new Map(registry.holders);
    this.#context = context;
  }

  add(pod: Pod): void {
    const identity = identityOf(pod);
    const known = this.records.get(identity.uid);
    if (known !== undefined && (known.state === "terminating" || known.state === "terminated" || !known.wanted)) {
      this.records.set(identity.uid, { ...known, successor: pod });
      return;
    }
    this.records.set(identity.uid, { ...(known ?? freshRecord(identity)), pod });
    if (known === undefined) this.#tryStart(identity.uid);
    else this.update(identity.uid, pod);
  }

  update(uid: PodUid, pod: Pod): void {
    const record = this.records.get(uid);
    if (record === undefined) return;
    if (record.successor !== undefined) {
      this.records.set(uid, { ...record, successor: pod });
      return;
    }
    this.records.set(uid, { ...record, pod });
    if (record.state === "syncing") this.#commands.push({ phase: "sync", identity: record.identity, pod });
  }

  /** The source no longer has the pod. */
  unwanted(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined) return;
    this.records.set(uid, { ...record, successor: undefined, wanted: false });
    switch (record.state) {
      case "waiting":
      case "rejected":
        this.#dropped.push(uid);
        this.#forget(record.identity, undefined);
        break;
      case "syncing":
        this.end(uid);
        break;
      case "terminating":
        break;
      case "terminated":
        // Told once: a worker that has removed everything is gone, and a second one must not begin.
        if (!record.wanted) break;
        this.#commands.push({ phase: "terminated", identity: record.identity, pod: record.pod, remove: true });
        break;
      default:
        unreachable(record.state);
    }
  }

  /** Stops a pod, or shortens the grace of one that is stopping. */
  end(uid: PodUid, how: { readonly graceSeconds?: number | undefined; readonly override?: StatusOverride } = {}): void {
    const record = this.records.get(uid);
    if (record === undefined || (record.state !== "syncing" && record.state !== "terminating")) return;
    const inForce = containerGraceSeconds(record.pod, undefined, "PodShouldStop", record.graceSeconds);
    const graceSeconds = Math.min(inForce, how.graceSeconds ?? inForce);
    if (record.state === "terminating" && graceSeconds === inForce) return;
    this.records.set(uid, { ...record, state: "terminating", graceSeconds });
    const { identity, pod } = record;
    this.#commands.push({ phase: "terminating", identity, pod, graceSeconds, override: how.override });
  }

  stopped(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined || record.state !== "terminating") return;
    this.records.set(uid, { ...record, state: "terminated" });
    this.#commands.push({ phase: "terminated", identity: record.identity, pod: record.pod, remove: !record.wanted });
  }

  removed(uid: PodUid): void {
    const record = this.records.get(uid);
    // Said of an earlier life under this UID: the loop it came through may be slower than a source.
    if (record === undefined || record.state !== "terminated" || record.wanted) return;
    this.#forget(record.identity, record.successor);
  }

  /** The record goes; its successor, then whoever waits for its full name, may start. */
  #forget({ uid, name, namespace }: PodIdentity, successor: Pod | undefined): void {
    this.records.delete(uid);
    const fullName = podFullName(name, namespace);
    if (this.#holders.get(fullName) === uid) this.#passNameOn(fullName);
    if (successor !== undefined) {
      this.#restarted.push(uid);
      this.add(successor);
    }
    for (const [waitingUid, waiting] of this.records) {
      if (this.#holders.has(fullName)) break;
      // One that is refused does not keep the name from the next.
      if (waiting.state === "waiting" && fullNameOf(waiting) === fullName) this.#tryStart(waitingUid);
    }
  }

  /** To another orphan of that name, if there is one: nobody else starts before all of them are gone. */
  #passNameOn(fullName: PodFullName): void {
    this.#holders.delete(fullName);
    for (const [uid, record] of this.records) {
      const isGoing = record.state === "terminating" || record.state === "terminated";
      if (isGoing && fullNameOf(record) === fullName) this.#holders.set(fullName, uid);
    }
  }

  /** A pod of which only the runtime knows: it is stopped and removed. */
  adoptOrphan(orphan: ListedPod): void {
    const identity = { uid: orphan.podUid, name: orphan.name, namespace: orphan.namespace };
    this.records.set(identity.uid, { ...freshRecord(identity), state: "terminating", wanted: false });
    const name = podFullName(identity.name, identity.namespace);
    if (!this.#holders.has(name)) this.#holders.set(name, identity.uid);
    this.#orphans.push(identity.uid);
    const command = { pod: undefined, graceSeconds: undefined, override: undefined };
    this.#commands.push({ phase: "terminating", identity, ...command });
  }

  #tryStart(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    const { pod, identity } = record;
    const name = fullNameOf(record);
    if (!this.#holders.has(name)) this.#endOlderIncarnation(identity);
    if (this.#holders.has(name) && this.#holders.get(name) !== uid) return;
    const running = this.#context.runtimePods.some((known) => known.podUid === uid && known.running);
    // Differs from upstream: a pod that already runs was admitted before; a restart of the kubelet does not judge it again.
    const verdict = running ? ADMITTED : this.#context.admit(pod, this.#active(uid));
    if (!verdict.admitted) {
      this.records.set(uid, { ...record, state: "rejected" });
      this.#rejections.push({ pod, reason: verdict.reason, message: verdict.message });
      return;
    }
    for (const victim of verdict.preempt) this.end(victim, { override: PREEMPTED });
    this.#holders.set(name, uid);
    this.records.set(uid, { ...record, state: "syncing" });
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    // Deleted while no kubelet was there to see it.
    if (deletionTimestamp !== undefined) this.end(uid, { graceSeconds: deletionGracePeriodSeconds });
    else this.#commands.push({ phase: "sync", identity, pod });
  }

  /** An earlier incarnation may still run from before a restart of the kubelet: it ends first. */
  #endOlderIncarnation(identity: PodIdentity): void {
    for (const known of this.#context.runtimePods) {
      const sameName = known.name === identity.name && known.namespace === identity.namespace;
      if (sameName && known.podUid !== identity.uid && !this.records.has(known.podUid)) this.adoptOrphan(known);
    }
  }

  #active(except: PodUid): readonly Pod[] {
    const active: Pod[] = [];
    for (const [uid, { state, pod }] of this.records) {
      if (uid !== except && pod !== undefined && (state === "syncing" || state === "terminating")) active.push(pod);
    }
    return active;
  }

  finish(): RegistryStep {
    return {
      registry: { records: this.records, holders: this.#holders },
      commands: this.#commands,
      rejections: this.#rejections,
      dropped: this.#dropped,
      orphans: this.#orphans,
      restarted: this.#restarted,
    };
  }
}

const identityOf = (pod: Pod): PodIdentity => ({
  uid: podUid(pod.metadata.uid),
  name: pod.metadata.name,
  namespace: pod.metadata.namespace,
});

const fullNameOf = (record: PodRecord): PodFullName => podFullName(record.identity.name, record.identity.namespace);

const freshRecord = (identity: PodIdentity): PodRecord => ({
  identity,
  pod: undefined,
  state: "waiting",
  wanted: true,
  graceSeconds: undefined,
  successor: undefined,
});
