/**
 * A single step of the pod registry: the effect of each input on the records, and the resulting commands to pod
 * workers. podRegistry.ts creates and finishes the draft synchronously.
 */
import type { Blocker, OverdueFor } from "../admission/leavingPods.ts";
import { PREEMPTED } from "../admission/preempted.ts";
import type { TakenResources } from "../admission/resourceDecision.ts";
import { type AllocationRecord, restoredSize } from "../allocation/allocationFile.ts";
import type { ResizeOutcome, ResizeTrigger } from "../allocation/pendingResizes.ts";
import { allocationOf, type PodAllocation, podAtSize, sameAllocation } from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import { copyMap } from "../copyMap.ts";
import { fullNameOf, type PodFullName, type PodUid, podFullName } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import { isStaticPod } from "./criticalPod.ts";
import { isTerminalPhase } from "./phase.ts";
import { containerGraceSeconds, MINIMUM_POD_GRACE_SECONDS } from "./gracePeriod.ts";
import { FullNameHolders } from "./fullNameHolders.ts";
import { freshRecord, identityOf, sizeOf, syncCommand, terminatedCommand, terminatingRecord } from "./podRecord.ts";
import type { PodEnd, PodIdentity, PodRecord, Registry, RegistryContext, RegistryStep } from "./podRegistryTypes.ts";
import { type AdmissionSteps, admitWaiting, type Promises } from "./registryAdmission.ts";
import type { PodHardware, Remark } from "../topology/hardware.ts";
import { HardwareDraft, type HardwareResizes } from "./registryHardware.ts";
import { type JudgedResizes, judgeRecords, withRequest } from "./registryResizes.ts";
import { RestoredPods, resourcesOfRecords } from "./registryResources.ts";
import { RegistryOutputs } from "./registryOutputs.ts";
import { sameValue } from "../sameValue.ts";

/** A private copy of the registry that becomes the next one. Upstream: the methods of podWorkers. */
export class RegistryDraft implements AdmissionSteps {
  readonly records: Map<PodUid, PodRecord>;
  readonly hardware: HardwareDraft;
  readonly #names: FullNameHolders;
  readonly #context: RegistryContext;
  readonly #outputs = new RegistryOutputs();
  #resizing: readonly PodUid[];
  readonly #restored: RestoredPods;
  readonly #isSettled: boolean;

  constructor(registry: Registry, context: RegistryContext) {
    this.records = copyMap(registry.records);
    this.#names = new FullNameHolders(registry);
    this.#resizing = registry.resizing;
    this.#restored = new RestoredPods(registry, context);
    this.#isSettled = registry.isSettled;
    this.#context = context;
    this.hardware = new HardwareDraft(this.records, this.#restored, context, this.#outputs.preparations);
  }

  restore(allocations: ReadonlyMap<PodUid, AllocationRecord>, inherited: ReadonlyMap<PodUid, PodHardware>): void {
    this.#restored.take(allocations, inherited);
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
    const allocated = record.allocated && podAtSize(pod, allocationOf(record.allocated), this.#context.parts);
    const refused = allocated === pod ? undefined : record.refused;
    this.records.set(uid, { ...record, pod, allocated, refused });
    if (record.state !== "syncing") return;
    // The promise was for another size.
    if (record.behind.length > 0 && !sameAllocation(allocationOf(pod), allocationOf(record.pod ?? pod))) {
      this.records.set(uid, { ...record, pod, allocated, refused, behind: [] });
    }
    this.#resizing = withRequest(this.#resizing, uid, this.records);
    this.#sync(uid);
  }

  #change(uid: PodUid, changed: Partial<PodRecord>): void {
    const record = this.records.get(uid);
    if (record !== undefined) this.records.set(uid, { ...record, ...changed });
  }

  /** Sends the current state to the worker of a syncing pod. */
  #sync(uid: PodUid, restored?: PodAllocation): void {
    const record = this.records.get(uid);
    const command = record && syncCommand(record, restored);
    if (command !== undefined) this.#outputs.sync(command);
  }

  /** The checkpoint of a granted size is on disk: resources beyond that size become available to waiting pods. */
  kept(uid: PodUid, pod: Pod): void {
    const record = this.records.get(uid);
    const isNewest = record?.allocated && sameAllocation(allocationOf(record.allocated), allocationOf(pod));
    if (isNewest === true) this.#change(uid, { held: undefined });
  }

  /** Judges pending resizes, a second time if that preempted pods. Returns the outcomes that changed. */
  #judgeResizes(promises: Promises): readonly ResizeOutcome[] {
    const first = this.#judgeOnce(promises);
    for (const { preempt, shortOf } of first.outcomes) this.#preempt(preempt, shortOf);
    const judged = first.outcomes.some(({ preempt }) => preempt.length > 0) ? this.#judgeOnce(promises) : first;
    this.#resizing = judged.resizing;
    for (const { uid, behind } of judged.outcomes) this.#setBehind(uid, behind);
    for (const { uid, pod, refused } of judged.news) {
      const record = this.records.get(uid);
      if (record === undefined) continue;
      this.records.set(uid, { ...(refused === undefined ? judged.sizes.grant(record, pod) : record), refused });
      this.#sync(uid);
    }
    return judged.news;
  }

  #judgeOnce({ resourcesByPod, reserved }: Promises): JudgedResizes & { readonly sizes: HardwareResizes } {
    const sizes = this.hardware.resizes();
    const taken = { resourcesByPod: new Map([...this.resourcesByPod(), ...resourcesByPod]), reserved };
    const rules = { ...this.#context, lacksHardware: sizes.refuse };
    return { ...judgeRecords(this.#resizing, this.records, taken, rules), sizes };
  }

  /** The source has removed the pod. */
  unwanted(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined) return;
    this.records.set(uid, { ...record, successor: undefined, wanted: false });
    switch (record.state) {
      case "waiting":
      case "rejected":
        this.hardware.release(uid);
        this.#outputs.dropped.push(uid);
        this.#endWait(record, "removed");
        this.#forget(record.identity, undefined);
        break;
      case "syncing":
        this.end(uid);
        break;
      case "terminating":
        break;
      case "terminated":
        // Send this once: a worker that has removed everything has ended, and no second one must start.
        if (!record.wanted) break;
        this.#outputs.commands.push({
          phase: "terminated",
          identity: record.identity,
          pod: sizeOf(record),
          remove: true,
        });
        break;
      default:
        unreachable(record.state);
    }
  }

  /** Terminates a pod, or shortens the grace period of a terminating pod. */
  end(uid: PodUid, how: PodEnd = {}): void {
    const record = this.records.get(uid);
    if (record === undefined || (record.state !== "syncing" && record.state !== "terminating")) return;
    const inForce = containerGraceSeconds(record.pod, undefined, "PodShouldStop", record.graceSeconds);
    const graceSeconds = Math.max(MINIMUM_POD_GRACE_SECONDS, Math.min(inForce, how.graceSeconds ?? inForce));
    if (record.state === "terminating" && graceSeconds === inForce) return;
    const ending = terminatingRecord(record, graceSeconds, this.#context.now);
    const override = record.override ?? how.override;
    this.records.set(uid, { ...ending, override, evicted: record.evicted || how.evicted === true });
    const { identity } = record;
    this.#outputs.commands.push({ phase: "terminating", identity, pod: sizeOf(record), graceSeconds, override });
  }

  stopped(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record === undefined || record.state !== "terminating") return;
    this.#change(uid, { state: "terminated", hardware: undefined });
    this.#outputs.commands.push(terminatedCommand(record));
  }

  /** Preempts pods for a critical pod. */
  #preempt(victims: readonly PodUid[], shortOf = ""): void {
    for (const uid of victims) {
      this.end(uid, { override: PREEMPTED, evicted: true });
      const { pod, state, graceSeconds } = this.records.get(uid) ?? {};
      if (pod === undefined || state !== "terminating" || graceSeconds === undefined) continue;
      this.#outputs.preempted.push({ uid, pod, graceSeconds, shortOf });
    }
  }

  /** A pod has not stopped in time, or the sources have not all reported in time. */
  overdue(uid: PodUid | undefined, overdueFor: OverdueFor): void {
    if (uid === undefined) {
      this.#restored.overdue(overdueFor);
      return;
    }
    const record = this.records.get(uid);
    if (record?.state !== "terminating" || record.leaving === undefined) return;
    this.#change(uid, { leaving: { ...record.leaving, overdueFor } });
    // Pods that wait for its resources cannot rely on them any more. Release the promises so that waiting pods are
    // decided first.
    if (overdueFor === "everyone") this.#breakPromises(uid);
  }

  #breakPromises(leaver: PodUid): void {
    for (const [uid, record] of this.records) {
      const isPromised = record.state === "syncing" && record.behind.some((awaited) => awaited.uid === leaver);
      if (isPromised) this.#setBehind(uid, []);
    }
  }

  reclaimed(uid: PodUid): void {
    if (this.records.get(uid)?.state === "terminated") this.#change(uid, { reclaimed: true });
  }

  removed(uid: PodUid): void {
    const record = this.records.get(uid);
    // Ignore an input about an earlier run under this UID: it may arrive after the source added the pod again.
    if (record === undefined || record.state !== "terminated" || record.wanted) return;
    this.#forget(record.identity, record.successor);
  }

  /** Deletes the record. The successor takes over the full name, if there is one, else a waiting pod may. */
  #forget({ uid, name, namespace }: PodIdentity, successor: Pod | undefined): void {
    this.records.delete(uid);
    this.#restored.claim(uid);
    const fullName = podFullName(name, namespace);
    this.#names.release(fullName, uid, this.records);
    if (successor === undefined) return;
    this.#outputs.restarted.push(uid);
    this.#names.giveIfFree(fullName, uid);
    this.add(successor);
  }

  /** Terminates and removes a pod that only the runtime knows. */
  adoptOrphan(orphan: ListedPod): void {
    const identity = { uid: orphan.podUid, name: orphan.name, namespace: orphan.namespace };
    const graceSeconds = MINIMUM_POD_GRACE_SECONDS;
    const found = { ...freshRecord(identity), wanted: false, hardware: this.#restored.hardwareOfOrphan(orphan) };
    this.records.set(identity.uid, terminatingRecord(found, graceSeconds, this.#context.now));
    this.#names.giveIfFree(fullNameOf(found.identity), identity.uid);
    this.#outputs.orphans.push(identity.uid);
    this.#outputs.commands.push({ phase: "terminating", identity, pod: undefined, graceSeconds, override: undefined });
  }

  get admit(): RegistryContext["admit"] {
    return this.#context.admit;
  }

  resourcesByPod(): Map<PodUid, TakenResources> {
    return new Map([...resourcesOfRecords(this.records), ...this.#restored.resourcesByPod(this.records)]);
  }

  holderOf(name: PodFullName): PodUid | undefined {
    return this.#names.of(name);
  }

  /**
   * Differs from upstream: a running pod was admitted before, so a restart of the kubelet does not judge it again. A
   * terminal pod uses no resources and keeps its phase.
   */
  isGranted({ identity: { uid }, pod }: PodRecord): boolean {
    return this.#restored.isRunning(uid) || isTerminalPhase(pod?.status?.phase);
  }

  startSize({ identity: { uid } }: PodRecord, pod: Pod): Pod {
    const restored = this.#restored.of(uid);
    // A static pod starts at the size of its manifest if none of its containers run.
    const hasSize = restored !== undefined && (this.#restored.isRunning(uid) || !isStaticPod(pod));
    return hasSize ? podAtSize(pod, restored.allocation, this.#context.parts) : pod;
  }

  start(uid: PodUid): void {
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    const { pod } = record;
    const restored = this.#restored.of(uid);
    this.#endWait(record, "started");
    this.#names.give(fullNameOf(record.identity), uid);
    const started = { ...record, behind: [], waitsSince: undefined, preparation: undefined };
    this.records.set(uid, { ...started, allocated: this.startSize(record, pod), state: "syncing" });
    this.#restored.claim(uid);
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    // The pod was deleted while the kubelet was down.
    if (deletionTimestamp !== undefined) this.end(uid, { graceSeconds: deletionGracePeriodSeconds });
    else {
      this.#resizing = withRequest(this.#resizing, uid, this.records);
      this.#sync(uid, restored && restoredSize(restored));
    }
  }

  endUnstarted(uid: PodUid): void {
    this.hardware.release(uid);
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    this.#endWait(record, "removed");
    this.#restored.claim(uid);
    this.records.set(uid, { ...record, behind: [], waitsSince: undefined, state: "syncing" });
    this.end(uid, { graceSeconds: record.pod.metadata.deletionGracePeriodSeconds });
  }

  reject(uid: PodUid, reason: string, message: string, remarks?: readonly Remark[] | undefined): void {
    this.hardware.release(uid);
    const record = this.records.get(uid);
    if (record?.pod === undefined) return;
    this.#endWait(record, "rejected");
    this.#restored.claim(uid);
    this.records.set(uid, { ...record, behind: [], waitsSince: undefined, state: "rejected" });
    this.#outputs.rejections.push({ pod: record.pod, reason, message, ...(remarks && { remarks }) });
    this.#names.release(fullNameOf(record.identity), uid, this.records);
  }

  wait(uid: PodUid, behind: readonly Blocker[], remarks?: readonly Remark[] | undefined): void {
    this.hardware.release(uid);
    this.#setBehind(uid, behind);
    const record = this.records.get(uid);
    if (record?.pod === undefined || behind.length === 0 || record.waitsSince !== undefined) return;
    this.#change(uid, { waitsSince: this.#context.now });
    this.#outputs.resourceWaits.push({ kind: "began", pod: record.pod, behind, ...(remarks && { remarks }) });
  }

  #setBehind(uid: PodUid, behind: readonly Blocker[]): void {
    if (!sameValue(this.records.get(uid)?.behind, behind)) this.#change(uid, { behind });
  }

  #endWait({ waitsSince }: PodRecord, outcome: "started" | "rejected" | "removed"): void {
    if (waitsSince === undefined) return;
    this.#outputs.resourceWaits.push({ kind: "ended", outcome, waitedMs: this.#context.now - waitsSince });
  }

  preempt(uid: PodUid, victims: readonly PodUid[], shortOf: string): void {
    this.#preempt(victims, shortOf);
    this.#change(uid, { victims: [...(this.records.get(uid)?.victims ?? []), ...victims] });
  }

  /**
   * Terminates an incarnation that still runs from before a restart of the kubelet. A resync removes the remains of a
   * stopped one: a listing may show them after their removal, which would be repeated here without a pause.
   */
  endOlderIncarnations({ uid, name, namespace }: PodIdentity): void {
    for (const known of this.#context.runtimePods) {
      const isOlder = known.running && known.podUid !== uid && known.name === name && known.namespace === namespace;
      if (isOlder && !this.records.has(known.podUid)) this.adoptOrphan(known);
    }
  }

  finish(trigger: ResizeTrigger | undefined): RegistryStep {
    const promises = admitWaiting(this);
    const resizes = trigger === undefined || this.#resizing.length === 0 ? [] : this.#judgeResizes(promises);
    return {
      registry: {
        records: this.records,
        holders: this.#names.holders,
        resizing: this.#resizing,
        ...this.#restored.left(this.records),
        isSettled: this.#isSettled,
      },
      ...this.#outputs,
      resizes,
      resizeTrigger: trigger,
    };
  }
}
