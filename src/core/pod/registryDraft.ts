/**
 * One step of the registry of pods while it is taken: what each input means for the records, and what workers are told of
 * it. Made and finished by podRegistry.ts, in one turn.
 */
import type { AdmissionResult } from "../admission/admit.ts";
import { PREEMPTED } from "../admission/preempted.ts";
import { type AllocationRecord, restoredSize } from "../allocation/allocationFile.ts";
import { admitBeside, type TakenRoom, takenRoom } from "../allocation/heldRoom.ts";
import type { ResizeOutcome, ResizeTrigger } from "../allocation/pendingResizes.ts";
import {
  allocationOf,
  followingSpec,
  type PodAllocation,
  sameAllocation,
  unclaimedPod,
  withAllocation,
} from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import { type PodFullName, type PodUid, podFullName } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import { isStaticPod } from "./criticalPod.ts";
import { isTerminalPhase } from "./phase.ts";
import { containerGraceSeconds, MINIMUM_POD_GRACE_SECONDS } from "./gracePeriod.ts";
import { freshRecord, fullNameOf, identityOf, roomOf, sizeOf, withGrant } from "./podRecord.ts";
import {
  type PodCommand,
  type PodIdentity,
  type PodRecord,
  type PodRejection,
  type PreemptedPod,
  type Registry,
  type RegistryContext,
  type RegistryStep,
} from "./podRegistryTypes.ts";
import { judgeRecords, withRequest } from "./registryResizes.ts";
import type { StatusOverride } from "./status.ts";

const ADMITTED: AdmissionResult = { admitted: true, preempt: [] };

/** A private copy of the registry that becomes the next one. Upstream: the methods of podWorkers. */
export class RegistryDraft {
  readonly records: Map<PodUid, PodRecord>;
  readonly #holders: Map<PodFullName, PodUid>;
  readonly #context: RegistryContext;
  readonly #commands: PodCommand[] = [];
  readonly #rejections: PodRejection[] = [];
  readonly #preempted: PreemptedPod[] = [];
  readonly #dropped: PodUid[] = [];
  readonly #orphans: PodUid[] = [];
  readonly #restarted: PodUid[] = [];
  #resizing: readonly PodUid[];
  #restored: ReadonlyMap<PodUid, AllocationRecord>;
  readonly #isSettled: boolean;

  constructor(registry: Registry, context: RegistryContext) {
    this.records = new Map(registry.records);
    this.#holders = new Map(registry.holders);
    this.#resizing = registry.resizing;
    this.#restored = registry.restored;
    this.#isSettled = registry.isSettled;
    this.#context = context;
  }

  restore(allocations: ReadonlyMap<PodUid, AllocationRecord>): void {
    this.#restored = allocations;
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
    const allocated = record.allocated && this.#atSize(pod, allocationOf(record.allocated));
    const refused = allocated === pod ? undefined : record.refused;
    this.records.set(uid, { ...record, pod, allocated, refused });
    if (record.state !== "syncing") return;
    this.#resizing = withRequest(this.#resizing, uid, this.records);
    this.#sync(uid);
  }

  /** The pod at what it is granted, as far as that can differ from its spec. */
  #atSize(pod: Pod, granted: PodAllocation): Pod {
    return withAllocation(pod, followingSpec(granted, pod, this.#context.parts));
  }

  /** Tells the worker of a syncing pod how things stand; in place of what this step told it before. */
  #sync(uid: PodUid, restored?: PodAllocation): void {
    const record = this.records.get(uid);
    if (record?.allocated === undefined) return;
    const { identity, allocated: pod, refused } = record;
    const told = this.#commands.findIndex((each) => each.phase === "sync" && each.identity.uid === uid);
    const [before] = told < 0 ? [] : this.#commands.splice(told, 1);
    const from = restored ?? (before?.phase === "sync" ? before.restoredSize : undefined);
    this.#commands.push({
      phase: "sync",
      identity,
      pod,
      ...(refused === undefined ? {} : { refused }),
      ...(from === undefined ? {} : { restoredSize: from }),
    });
  }

  /** A granted size is on disk: room beyond it is free, and who waited for that may have it. */
  kept(uid: PodUid, pod: Pod): void {
    const record = this.records.get(uid);
    const isNewest = record?.allocated && sameAllocation(allocationOf(record.allocated), allocationOf(pod));
    if (isNewest !== true) return;
    this.records.set(uid, { ...record, held: undefined });
    this.#startWaiting();
  }

  /** Judges the resizes that wait. The outcomes that are news. */
  #judgeResizes(): readonly ResizeOutcome[] {
    const { outcomes, resizing } = judgeRecords(this.#resizing, this.records, this.#taken(), this.#context);
    this.#resizing = resizing;
    for (const { uid, pod, refused, preempt, shortOf } of outcomes) {
      const record = this.records.get(uid);
      if (record === undefined) continue;
      this.records.set(uid, { ...(refused === undefined ? withGrant(record, pod) : record), refused });
      this.#preempt(preempt, shortOf);
      this.#sync(uid);
    }
    return outcomes;
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
        this.#commands.push({ phase: "terminated", identity: record.identity, pod: sizeOf(record), remove: true });
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
    const graceSeconds = Math.max(MINIMUM_POD_GRACE_SECONDS, Math.min(inForce, how.graceSeconds ?? inForce));
    if (record.state === "terminating" && graceSeconds === inForce) return;
    this.records.set(uid, { ...record, state: "terminating", graceSeconds });
    const { identity } = record;
    const pod = sizeOf(record);
    this.#commands.push({ phase: "terminating", identity, pod, graceSeconds, override: how.override });
  }

  stopped(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined || record.state !== "terminating") return;
    this.records.set(uid, { ...record, state: "terminated" });
    const { identity, wanted } = record;
    this.#commands.push({ phase: "terminated", identity, pod: sizeOf(record), remove: !wanted });
    this.#startWaiting();
  }

  /** Stops pods for the sake of a critical one. */
  #preempt(victims: readonly PodUid[], shortOf = ""): void {
    for (const uid of victims) {
      this.end(uid, { override: PREEMPTED });
      const { pod, state, graceSeconds } = this.records.get(uid) ?? {};
      if (pod === undefined || state !== "terminating" || graceSeconds === undefined) continue;
      this.#preempted.push({ uid, pod, graceSeconds, shortOf });
    }
  }

  overdue(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.state !== "terminating") return;
    this.records.set(uid, { ...record, overdue: true });
    this.#startWaiting();
  }

  reclaimed(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.state === "terminated") this.records.set(uid, { ...record, reclaimed: true });
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
    const graceSeconds = MINIMUM_POD_GRACE_SECONDS;
    this.records.set(identity.uid, { ...freshRecord(identity), state: "terminating", wanted: false, graceSeconds });
    const name = podFullName(identity.name, identity.namespace);
    if (!this.#holders.has(name)) this.#holders.set(name, identity.uid);
    this.#orphans.push(identity.uid);
    const command = { pod: undefined, graceSeconds, override: undefined };
    this.#commands.push({ phase: "terminating", identity, ...command });
  }

  #startWaiting(): void {
    for (const [uid, { state }] of this.records) if (state === "waiting") this.#tryStart(uid);
  }

  #tryStart(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    const { pod, identity } = record;
    const name = fullNameOf(record);
    if (!this.#holders.has(name)) this.#endOlderIncarnation(identity);
    if (this.#holders.has(name) && this.#holders.get(name) !== uid) return;
    if (this.#anyEnds(record.victims)) return;
    const running = this.#context.runtimePods.some((known) => known.podUid === uid && known.running);
    // Differs from upstream: a pod that already runs was admitted before; a restart of the kubelet does not judge it again.
    const restored = this.#restored.get(uid);
    // A static pod has the size of its manifest, once nothing of it runs.
    const hasSize = restored !== undefined && (running || !isStaticPod(pod));
    const allocated = hasSize ? this.#atSize(pod, restored.allocation) : pod;
    // As upstream, a critical pod waits for room only so long: what a stuck stop still holds counts for all others.
    const stuck = record.victims.filter((victim) => this.records.get(victim)?.overdue === true);
    const others = (): readonly TakenRoom[] => [...this.#taken([uid, ...stuck]).values()];
    // One that is over takes nothing, and stays what it became.
    const isGranted = running || isTerminalPhase(pod.status?.phase);
    const verdict = isGranted ? ADMITTED : admitBeside(allocated, others(), this.#context.admit);
    if (verdict === undefined) return;
    if (restored !== undefined) this.#restored = new Map([...this.#restored].filter(([known]) => known !== uid));
    if (!verdict.admitted) {
      this.records.set(uid, { ...record, state: "rejected" });
      this.#rejections.push({ pod, reason: verdict.reason, message: verdict.message });
      return;
    }
    this.#preempt(verdict.preempt, verdict.shortOf);
    if (this.#anyEnds(verdict.preempt)) {
      this.records.set(uid, { ...record, victims: [...stuck, ...verdict.preempt] });
      return;
    }
    this.#holders.set(name, uid);
    this.records.set(uid, { ...record, allocated, state: "syncing" });
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    // Deleted while no kubelet was there to see it.
    if (deletionTimestamp !== undefined) this.end(uid, { graceSeconds: deletionGracePeriodSeconds });
    else {
      this.#resizing = withRequest(this.#resizing, uid, this.records);
      this.#sync(uid, restored && restoredSize(restored));
    }
  }

  #anyEnds(uids: readonly PodUid[]): boolean {
    return uids.some((uid) => {
      const record = this.records.get(uid);
      return record?.state === "terminating" && !record.overdue;
    });
  }

  /** An earlier incarnation may still run from before a restart of the kubelet: it ends first. */
  #endOlderIncarnation(identity: PodIdentity): void {
    for (const known of this.#context.runtimePods) {
      const sameName = known.name === identity.name && known.namespace === identity.namespace;
      if (sameName && known.podUid !== identity.uid && !this.records.has(known.podUid)) this.adoptOrphan(known);
    }
  }

  /** What other pods take of the node. */
  #taken(except: readonly PodUid[] = []): ReadonlyMap<PodUid, TakenRoom> {
    const taken = new Map<PodUid, TakenRoom>();
    for (const [uid, record] of this.records) {
      const room = except.includes(uid) ? undefined : roomOf(record);
      if (room !== undefined) taken.set(uid, room);
    }
    // Runs since before a restart of the kubelet, and its source, even one that has reported, has not told of it yet.
    for (const known of this.#context.runtimePods) {
      const restored = this.#restored.get(known.podUid);
      if (restored === undefined || !known.running) continue;
      taken.set(known.podUid, takenRoom(unclaimedPod(known, restored.allocation), undefined));
    }
    return taken;
  }

  finish(trigger: ResizeTrigger | undefined): RegistryStep {
    const resizes = trigger === undefined ? [] : this.#judgeResizes();
    return {
      registry: {
        records: this.records,
        holders: this.#holders,
        resizing: this.#resizing,
        restored: this.#restored,
        isSettled: this.#isSettled,
      },
      commands: this.#commands,
      resizes,
      resizeTrigger: trigger,
      rejections: this.#rejections,
      preempted: this.#preempted,
      dropped: this.#dropped,
      orphans: this.#orphans,
      restarted: this.#restarted,
    };
  }
}
