/**
 * One step of the registry of pods while it is taken: what each input means for the records, and what workers are told of
 * it. Made and finished by podRegistry.ts, in one turn.
 */
import { type AwaitedPod, earlierDue, leavingDue, type OverdueFor } from "../admission/leavingPods.ts";
import { PREEMPTED } from "../admission/preempted.ts";
import type { TakenRoom } from "../admission/roomDecision.ts";
import { type AllocationRecord, restoredSize } from "../allocation/allocationFile.ts";
import type { ResizeOutcome, ResizeTrigger } from "../allocation/pendingResizes.ts";
import {
  allocationOf,
  followingSpec,
  type PodAllocation,
  sameAllocation,
  withAllocation,
} from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import { type PodFullName, type PodUid, podFullName } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import { isStaticPod } from "./criticalPod.ts";
import { isTerminalPhase } from "./phase.ts";
import { containerGraceSeconds, MINIMUM_POD_GRACE_SECONDS } from "./gracePeriod.ts";
import { freshRecord, fullNameOf, identityOf, sizeOf, withGrant } from "./podRecord.ts";
import type { PodIdentity, PodRecord, Registry, RegistryContext, RegistryStep } from "./podRegistryTypes.ts";
import { type AdmissionSteps, admitWaiting, type Promises } from "./registryAdmission.ts";
import { type JudgedResizes, judgeRecords, withRequest } from "./registryResizes.ts";
import { RestoredPods, roomsOf } from "./registryRooms.ts";
import { sameValue } from "../sameValue.ts";
import type { StatusOverride } from "./status.ts";
import { StepWords } from "./stepWords.ts";

/** A private copy of the registry that becomes the next one. Upstream: the methods of podWorkers. */
export class RegistryDraft implements AdmissionSteps {
  readonly records: Map<PodUid, PodRecord>;
  readonly #holders: Map<PodFullName, PodUid>;
  readonly #context: RegistryContext;
  readonly #said = new StepWords();
  #resizing: readonly PodUid[];
  readonly #restored: RestoredPods;
  readonly #isSettled: boolean;

  constructor(registry: Registry, context: RegistryContext) {
    this.records = new Map(registry.records);
    this.#holders = new Map(registry.holders);
    this.#resizing = registry.resizing;
    this.#restored = new RestoredPods(registry, context);
    this.#isSettled = registry.isSettled;
    this.#context = context;
  }

  restore(allocations: ReadonlyMap<PodUid, AllocationRecord>): void {
    this.#restored.take(allocations);
  }

  add(pod: Pod): void {
    const identity = identityOf(pod);
    const known = this.records.get(identity.uid);
    if (known !== undefined && (known.state === "terminating" || known.state === "terminated" || !known.wanted)) {
      this.records.set(identity.uid, { ...known, successor: pod });
      return;
    }
    this.records.set(identity.uid, { ...(known ?? freshRecord(identity)), pod });
    if (known !== undefined) this.update(identity.uid, pod);
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
    // What it was promised was for another size.
    if (record.behind.length > 0 && !sameAllocation(allocationOf(pod), allocationOf(record.pod ?? pod))) {
      this.records.set(uid, { ...record, pod, allocated, refused, behind: [] });
    }
    this.#resizing = withRequest(this.#resizing, uid, this.records);
    this.#sync(uid);
  }

  /** The pod at what it is granted, as far as that can differ from its spec. */
  #atSize(pod: Pod, granted: PodAllocation): Pod {
    return withAllocation(pod, followingSpec(granted, pod, this.#context.parts));
  }

  /** Tells the worker of a syncing pod how things stand. */
  #sync(uid: PodUid, restored?: PodAllocation): void {
    const record = this.records.get(uid);
    if (record?.allocated === undefined) return;
    const { identity, allocated: pod, refused } = record;
    this.#said.sync({
      phase: "sync",
      identity,
      pod,
      ...(refused === undefined ? {} : { refused }),
      ...(restored === undefined ? {} : { restoredSize: restored }),
    });
  }

  /** A granted size is on disk: room beyond it is free, and who waited for that may have it. */
  kept(uid: PodUid, pod: Pod): void {
    const record = this.records.get(uid);
    const isNewest = record?.allocated && sameAllocation(allocationOf(record.allocated), allocationOf(pod));
    if (isNewest !== true) return;
    this.records.set(uid, { ...record, held: undefined });
  }

  /** Judges the resizes that wait, once more when pods were told to make room for one. The outcomes that are news. */
  #judgeResizes(promises: Promises): readonly ResizeOutcome[] {
    const first = this.#judgeOnce(promises);
    for (const { preempt, shortOf } of first.outcomes) this.#preempt(preempt, shortOf);
    const judged = first.outcomes.some(({ preempt }) => preempt.length > 0) ? this.#judgeOnce(promises) : first;
    this.#resizing = judged.resizing;
    for (const { uid, behind } of judged.outcomes) this.#setBehind(uid, behind);
    for (const { uid, pod, refused } of judged.news) {
      const record = this.records.get(uid);
      if (record === undefined) continue;
      this.records.set(uid, { ...(refused === undefined ? withGrant(record, pod) : record), refused });
      this.#sync(uid);
    }
    return judged.news;
  }

  #judgeOnce({ rooms, reserved }: Promises): JudgedResizes {
    const taken = { rooms: new Map([...this.rooms(), ...rooms]), reserved };
    return judgeRecords(this.#resizing, this.records, taken, this.#context);
  }

  /** The source no longer has the pod. */
  unwanted(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined) return;
    this.records.set(uid, { ...record, successor: undefined, wanted: false });
    switch (record.state) {
      case "waiting":
      case "rejected":
        this.#said.dropped.push(uid);
        this.#endWait(record, "removed");
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
        this.#said.commands.push({ phase: "terminated", identity: record.identity, pod: sizeOf(record), remove: true });
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
    const due = earlierDue(record.leaving?.due, leavingDue(graceSeconds, this.#context.now));
    const leaving = { overdueFor: undefined, ...record.leaving, due };
    this.records.set(uid, { ...record, state: "terminating", graceSeconds, leaving, behind: [] });
    const { identity } = record;
    const pod = sizeOf(record);
    this.#said.commands.push({ phase: "terminating", identity, pod, graceSeconds, override: how.override });
  }

  stopped(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined || record.state !== "terminating") return;
    this.records.set(uid, { ...record, state: "terminated" });
    const { identity, wanted } = record;
    this.#said.commands.push({ phase: "terminated", identity, pod: sizeOf(record), remove: !wanted });
  }

  /** Stops pods for the sake of a critical one. */
  #preempt(victims: readonly PodUid[], shortOf = ""): void {
    for (const uid of victims) {
      this.end(uid, { override: PREEMPTED });
      const { pod, state, graceSeconds } = this.records.get(uid) ?? {};
      if (pod === undefined || state !== "terminating" || graceSeconds === undefined) continue;
      this.#said.preempted.push({ uid, pod, graceSeconds, shortOf });
    }
  }

  /** The stop of a pod takes too long, or a source too long to tell what it wants. */
  overdue(uid: PodUid | undefined, overdueFor: OverdueFor): void {
    if (uid === undefined) {
      this.#restored.overdue(overdueFor);
      return;
    }
    const record = this.records.get(uid);
    if (record?.state !== "terminating" || record.leaving === undefined) return;
    this.records.set(uid, { ...record, leaving: { ...record.leaving, overdueFor } });
    // What others were promised of its room will not come: pods that wait are decided first.
    if (overdueFor === "everyone") this.#breakPromises(uid);
  }

  #breakPromises(leaver: PodUid): void {
    for (const [uid, record] of this.records) {
      const isPromised = record.state === "syncing" && record.behind.some((awaited) => awaited.uid === leaver);
      if (isPromised) this.#setBehind(uid, []);
    }
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

  /** The record goes. Its successor takes the name over; else whoever waits for it may. */
  #forget({ uid, name, namespace }: PodIdentity, successor: Pod | undefined): void {
    this.records.delete(uid);
    this.#restored.claim(uid);
    const fullName = podFullName(name, namespace);
    if (this.#holders.get(fullName) === uid) this.#passNameOn(fullName);
    if (successor === undefined) return;
    this.#said.restarted.push(uid);
    if (!this.#holders.has(fullName)) this.#holders.set(fullName, uid);
    this.add(successor);
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
    const leaving = { due: leavingDue(graceSeconds, this.#context.now), overdueFor: undefined };
    const fresh = { ...freshRecord(identity), wanted: false };
    this.records.set(identity.uid, { ...fresh, state: "terminating", graceSeconds, leaving });
    const name = podFullName(identity.name, identity.namespace);
    if (!this.#holders.has(name)) this.#holders.set(name, identity.uid);
    this.#said.orphans.push(identity.uid);
    const command = { pod: undefined, graceSeconds, override: undefined };
    this.#said.commands.push({ phase: "terminating", identity, ...command });
  }

  get admit(): RegistryContext["admit"] {
    return this.#context.admit;
  }

  rooms(): Map<PodUid, TakenRoom> {
    return new Map([...roomsOf(this.records), ...this.#restored.rooms(this.records)]);
  }

  holderOf(name: PodFullName): PodUid | undefined {
    return this.#holders.get(name);
  }

  /**
   * Differs from upstream: a pod that already runs was admitted before; a restart of the kubelet does not judge it again.
   * One that is over takes nothing, and stays what it became.
   */
  isGranted({ identity: { uid }, pod }: PodRecord): boolean {
    return this.#restored.isRunning(uid) || isTerminalPhase(pod?.status?.phase);
  }

  startSize({ identity: { uid } }: PodRecord, pod: Pod): Pod {
    const restored = this.#restored.of(uid);
    // A static pod has the size of its manifest, once nothing of it runs.
    const hasSize = restored !== undefined && (this.#restored.isRunning(uid) || !isStaticPod(pod));
    return hasSize ? this.#atSize(pod, restored.allocation) : pod;
  }

  start(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    const { pod } = record;
    const restored = this.#restored.of(uid);
    this.#endWait(record, "started");
    this.#holders.set(fullNameOf(record), uid);
    const started = { ...record, behind: [], waitsSince: undefined };
    this.records.set(uid, { ...started, allocated: this.startSize(record, pod), state: "syncing" });
    this.#restored.claim(uid);
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    // Deleted while no kubelet was there to see it.
    if (deletionTimestamp !== undefined) this.end(uid, { graceSeconds: deletionGracePeriodSeconds });
    else {
      this.#resizing = withRequest(this.#resizing, uid, this.records);
      this.#sync(uid, restored && restoredSize(restored));
    }
  }

  endUnstarted(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    this.#endWait(record, "removed");
    this.#restored.claim(uid);
    this.records.set(uid, { ...record, behind: [], waitsSince: undefined, state: "syncing" });
    this.end(uid, { graceSeconds: record.pod.metadata.deletionGracePeriodSeconds });
  }

  reject(uid: PodUid, reason: string, message: string): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    this.#endWait(record, "rejected");
    this.#restored.claim(uid);
    this.records.set(uid, { ...record, behind: [], waitsSince: undefined, state: "rejected" });
    this.#said.rejections.push({ pod: record.pod, reason, message });
    const name = fullNameOf(record);
    if (this.#holders.get(name) === uid) this.#passNameOn(name);
  }

  wait(uid: PodUid, behind: readonly AwaitedPod[]): void {
    this.#setBehind(uid, behind);
    const record = this.records.get(uid);
    if (record?.pod === undefined || behind.length === 0 || record.waitsSince !== undefined) return;
    this.records.set(uid, { ...record, waitsSince: this.#context.now });
    this.#said.roomWaits.push({ kind: "began", pod: record.pod, behind });
  }

  #setBehind(uid: PodUid, behind: readonly AwaitedPod[]): void {
    const record = this.records.get(uid);
    if (record !== undefined && !sameValue(record.behind, behind)) this.records.set(uid, { ...record, behind });
  }

  #endWait({ waitsSince }: PodRecord, outcome: "started" | "rejected" | "removed"): void {
    if (waitsSince === undefined) return;
    this.#said.roomWaits.push({ kind: "ended", outcome, waitedMs: this.#context.now - waitsSince });
  }

  preempt(uid: PodUid, victims: readonly PodUid[], shortOf: string): void {
    this.#preempt(victims, shortOf);
    const record = this.records.get(uid);
    if (record !== undefined) this.records.set(uid, { ...record, victims: [...record.victims, ...victims] });
  }

  /** An earlier incarnation may still run from before a restart of the kubelet: it ends first. */
  endOlderIncarnations(identity: PodIdentity): void {
    for (const known of this.#context.runtimePods) {
      const sameName = known.name === identity.name && known.namespace === identity.namespace;
      if (sameName && known.podUid !== identity.uid && !this.records.has(known.podUid)) this.adoptOrphan(known);
    }
  }

  finish(trigger: ResizeTrigger | undefined): RegistryStep {
    const promises = admitWaiting(this);
    const resizes = trigger === undefined ? [] : this.#judgeResizes(promises);
    return {
      registry: {
        records: this.records,
        holders: this.#holders,
        resizing: this.#resizing,
        ...this.#restored.left(),
        isSettled: this.#isSettled,
      },
      ...this.#said,
      resizes,
      resizeTrigger: trigger,
    };
  }
}
