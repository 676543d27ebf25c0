/**
 * An inspection of a pod: lists its parts in the runtime, then asks for the status of each. Parts that cannot change
 * any more are not asked for again. Bound: a deadline over the whole inspection. Upstream: kuberuntime GetPodStatus.
 */
import { POD_UID_LABEL } from "../../core/container/labels.ts";
import { catchError, defer, forkJoin, map, type Observable, of, switchMap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import {
  type ContainerAnswer,
  needsContainerStatus,
  needsSandboxStatus,
  type SandboxAnswer,
  translatePodStatus,
} from "../../core/runtime/translate.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Sequence } from "../../state/sequence.ts";
import { readTerminationMessages } from "./terminationMessages.ts";

/** Inputs of an inspection besides the UID of the pod. */
export interface InspectionContext {
  readonly ports: Pick<KubeletPorts, "runtime" | "clock" | "files" | "logFiles">;
  readonly sequence: Sequence;
  readonly deadlineMs: number;
}

/** Inspects a pod. Emits once; errors with a KubeletError if the runtime does not answer in time. */
export function inspectPod(
  uid: PodUid,
  previous: PodRuntimeStatus | undefined,
  { ports, sequence, deadlineMs }: InspectionContext,
): Observable<PodRuntimeStatus> {
  const { runtime, clock } = ports;
  return defer(() => {
    const drawn = sequence.next();
    return listParts(uid, runtime).pipe(
      switchMap(({ sandboxes, containers }) =>
        forkJoin([
          all(sandboxes.map((item) => askSandbox(ports, previous, item))),
          all(containers.map((item) => askContainer(ports, previous, item))),
        ]),
      ),
      map(([sandboxes, containers]) =>
        translatePodStatus({
          podUid: uid,
          sandboxes: sandboxes.filter((answer) => answer !== undefined),
          containers: containers.filter((answer) => answer !== undefined),
          previous,
          sequence: drawn,
          now: clock.monotonicMs(),
          wall: clock.wallTime(),
        }),
      ),
      switchMap((status) => readTerminationMessages(status, previous, ports)),
      deadline(deadlineMs, clock, () =>
        kubeletError(
          "DeadlineExceeded",
          `pod ${uid}: the runtime did not answer an inspection within ${deadlineMs} ms`,
        ),
      ),
    );
  });
}

type Listed<Method extends "listPodSandbox" | "listContainers"> = Awaited<
  ReturnType<KubeletPorts["runtime"][Method]> extends Observable<infer Answer> ? Answer : never
>;
type ListedSandbox = Listed<"listPodSandbox">["items"][number];
type ListedContainer = Listed<"listContainers">["containers"][number];

/** The listed sandboxes and containers of a pod. */
interface ListedParts {
  readonly sandboxes: readonly ListedSandbox[];
  readonly containers: readonly ListedContainer[];
}

/**
 * Makes both lists at once. The list of containers may be newer and have containers of a sandbox that the other list
 * lacks: their pod would get the address of an earlier sandbox in its status and probes. In that case lists the
 * sandboxes again.
 */
function listParts(uid: PodUid, runtime: KubeletPorts["runtime"]): Observable<ListedParts> {
  const labelSelector = { [POD_UID_LABEL]: uid };
  const sandboxes$ = runtime
    .listPodSandbox({ filter: { id: "", state: undefined, labelSelector } })
    .pipe(map(({ items }) => items));
  const containers$ = runtime
    .listContainers({ filter: { id: "", state: undefined, podSandboxId: "", labelSelector } })
    .pipe(map((answer) => answer.containers));
  return forkJoin({ sandboxes: sandboxes$, containers: containers$ }).pipe(
    switchMap((listed) =>
      isTorn(listed) ? sandboxes$.pipe(map((sandboxes) => ({ ...listed, sandboxes }))) : of(listed),
    ),
  );
}

function isTorn({ sandboxes, containers }: ListedParts): boolean {
  return containers.some(({ podSandboxId }) => sandboxes.every(({ id }) => id !== podSandboxId));
}

function askSandbox(
  { runtime }: InspectionContext["ports"],
  previous: PodRuntimeStatus | undefined,
  item: ListedSandbox,
): Call<SandboxAnswer | undefined> {
  if (!needsSandboxStatus(item, previous)) return of({ listed: item, status: undefined });
  return runtime.podSandboxStatus({ podSandboxId: item.id, verbose: false }).pipe(
    map(({ status }) => ({ listed: item, status })),
    goneIsUndefined(),
  );
}

function askContainer(
  { runtime }: InspectionContext["ports"],
  previous: PodRuntimeStatus | undefined,
  item: ListedContainer,
): Call<ContainerAnswer | undefined> {
  if (!needsContainerStatus(item, previous)) return of({ listed: item, status: undefined });
  return runtime.containerStatus({ containerId: item.id, verbose: false }).pipe(
    map(({ status }) => ({ listed: item, status })),
    goneIsUndefined(),
  );
}

/** Treats a part that was removed between the list and the status as not listed. */
function goneIsUndefined<T>() {
  return catchError<T, Observable<undefined>>((thrown: unknown) => {
    const error = toKubeletError(thrown);
    if (error.code === "NotFound") return of(undefined);
    throw error;
  });
}

function all<T>(calls: readonly Call<T>[]): Observable<readonly T[]> {
  return calls.length === 0 ? of([]) : forkJoin(calls);
}
