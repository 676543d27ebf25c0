/**
 * A request of the pod writer: sends the write that core/api/podWrite.ts decides for a name, and keeps the outcome in
 * the memory of that name.
 */
import { catchError, concat, defer, EMPTY, map, type Observable, of } from "rxjs";
import { nextPodWrite, patchedObject, type PodWrite, type SyncedStatus } from "../../core/api/podWrite.ts";
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import type { Node, Pod } from "../../core/api.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { podUid } from "../../core/ids.ts";
import { mirrorPod } from "../../core/pod/mirrorPod.ts";
import type { WorkOutcome } from "../../core/workQueue.ts";
import type { ApiLanes, ObjectRef } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PodReports } from "../../ports/podReports.ts";
import type { Telemetry } from "../../ports/telemetry.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { PodWriterMemories, PodWriterMemory } from "./podWriterMemory.ts";

interface PodWriteDeps {
  readonly api: ApiLanes;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** undefined: no record on disk precedes a report. */
  readonly podReports?: PodReports | undefined;
  readonly nodeName: string;
  readonly node: ReadonlyCell<Node | undefined>;
}

/** The state of a written name. */
interface Subject {
  readonly ref: ObjectRef;
  readonly memory: PodWriterMemory;
  /** The object as last known. */
  readonly uid: string | undefined;
  readonly version: string;
}

const ANSWERED: WorkOutcome = { kind: "answered" };
/** Upstream: the period of the status manager's syncBatch. */
const MISSED_MS = 10_000;

/** Sends the next request for a name; empty if none is needed. Errors only on a broken invariant. */
export function podWriteRequest(
  name: string,
  memories: PodWriterMemories,
  deps: PodWriteDeps,
): Observable<WorkOutcome> {
  return defer(() => {
    const memory = memories.of(name);
    const view = memories.view(name);
    const [namespace = "", podName = ""] = name.split("/");
    const { uid, resourceVersion: version = "" } = view.object?.metadata ?? {};
    const subject: Subject = { ref: { namespace, name: podName }, memory, uid, version };
    if (memory.isInDoubt) return attempt("get", subject, deps, ask(subject, deps));
    const write = nextPodWrite(view);
    switch (write.kind) {
      case "none":
        if (write.synced !== undefined) noteSynced(memory, write.synced, deps);
        return lookAgain(name, memories);
      case "later":
        return of<WorkOutcome>(write);
      case "status":
        return attempt(
          "update the status of",
          subject,
          deps,
          onceKept(subject, deps, writeStatus(subject, write, deps)),
        );
      case "delete":
        return attempt("delete", subject, deps, onceKept(subject, deps, remove(subject, write, deps)));
      case "createMirror":
        return attempt("create the mirror pod", subject, deps, createMirror(subject, write.pod, deps));
    }
  });
}

/** Drops the memory of a pod that is over, and looks later at one that was not found. */
function lookAgain(name: string, memories: PodWriterMemories): Observable<WorkOutcome> {
  const afterMs = memories.hiddenForMs(name);
  if (afterMs !== undefined) return of({ kind: "later", afterMs });
  memories.forgetGone(name);
  return EMPTY;
}

/** Sends a request about a pod that has ended after the record on disk says so: it must not come back at a boot. */
const onceKept = (
  { uid }: Subject,
  { podReports }: PodWriteDeps,
  request$: Observable<WorkOutcome>,
): Observable<WorkOutcome> =>
  podReports === undefined || uid === undefined ? request$ : concat(podReports.before(podUid(uid)), request$);

function noteSynced(memory: PodWriterMemory, synced: SyncedStatus, { clock, telemetry }: PodWriteDeps): void {
  const atMs = clock.monotonicMs();
  memory.synced = { ...synced, atMs };
  if (memory.changedAtMs === undefined) return;
  telemetry.metrics.observe("kubelet_pod_status_sync_duration_seconds", (atMs - memory.changedAtMs) / 1000);
  memory.changedAtMs = undefined;
}

function ask({ ref, memory }: Subject, { api }: PodWriteDeps): Observable<WorkOutcome> {
  return api.pods.get("pods", ref).pipe(
    map((object) => {
      memory.isInDoubt = false;
      memory.gone = undefined;
      memory.answered = object;
      // Not `answered`, which would reset the backoff: only a read succeeded, and the write may fail again.
      return { kind: "later", afterMs: 0 };
    }),
  );
}

function writeStatus(
  { ref, memory }: Subject,
  { patch, synced, patched }: PodWrite & { readonly kind: "status" },
  deps: PodWriteDeps,
): Observable<WorkOutcome> {
  const body = { type: "application/strategic-merge-patch+json", body: patch } as const;
  return deps.api.pods.patch("pods", ref, body, { subresource: "status", answer: "metadata" }).pipe(
    map((answer) => {
      // The whole pod follows with the watch event: reading it twice doubles the cost of a large status.
      memory.answered = patchedObject(patched, answer);
      noteSynced(memory, synced, deps);
      return ANSWERED;
    }),
  );
}

function remove(
  { ref, memory }: Subject,
  { uid }: PodWrite & { readonly kind: "delete" },
  { api }: PodWriteDeps,
): Observable<WorkOutcome> {
  return api.pods.delete("pods", ref, { gracePeriodSeconds: 0, preconditions: { uid } }).pipe(
    map((answer) => {
      // Finalizers keep the object until their owners remove them.
      const left = answer as ApiPod;
      if ((left.metadata?.finalizers ?? []).length > 0) memory.answered = left;
      else memory.gone = { uid };
      return ANSWERED;
    }),
  );
}

/** Creates a mirror pod owned by the current Node: the Node may have been recreated since the last mirror pod. */
function createMirror({ memory }: Subject, pod: Pod, { api, nodeName, node }: PodWriteDeps): Observable<WorkOutcome> {
  return defer(() => {
    const { deletionTimestamp, uid } = node.value?.metadata ?? {};
    if (uid === undefined) throw notYet("the node is not known yet");
    if (deletionTimestamp !== undefined) throw notYet("the node has been removed from the cluster");
    return api.pods.create("pods", mirrorPod(pod, { name: nodeName, uid }));
  }).pipe(
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      // NotFound means a missing namespace here, not a deleted pod.
      throw code === "NotFound" ? notYet(message) : thrown;
    }),
    map((object) => {
      memory.answered = object;
      return ANSWERED;
    }),
  );
}

const notYet = (why: string): KubeletError => kubeletError("Backoff", why);

/** Sends a request and classifies its failure. */
function attempt(
  what: string,
  { ref, memory, uid, version }: Subject,
  { clock, telemetry }: PodWriteDeps,
  request$: Observable<WorkOutcome>,
): Observable<WorkOutcome> {
  return request$.pipe(
    catchError((thrown: unknown): Observable<WorkOutcome> => {
      const error = toKubeletError(thrown);
      if (error.code === "NotFound") {
        memory.isInDoubt = false;
        memory.gone =
          uid === undefined ? undefined : { uid, missed: { version, untilMs: clock.monotonicMs() + MISSED_MS } };
        return of(ANSWERED);
      }
      memory.isInDoubt = error.code !== "Backoff";
      const pod = `${ref.namespace}/${ref.name}`;
      telemetry.log.warn(`Failed to ${what} pod`, { pod, code: error.code, why: error.message });
      return of(isAway(error) ? { kind: "away", pauseMs: error.retryAfterMs ?? 0 } : { kind: "failed" });
    }),
  );
}

/** Returns whether other requests would fail in the same way. */
const isAway = ({ code }: KubeletError): boolean =>
  code === "Unavailable" || code === "DeadlineExceeded" || code === "TooManyRequests" || code === "Unknown";
