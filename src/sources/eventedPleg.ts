/**
 * The runtime's event stream as hints: `GetContainerEvents` where the runtime has it, else containerd's own event
 * service on the same socket, else nothing. Reopened whenever it breaks. Upstream: pleg/evented.go.
 */
import {
  catchError,
  concat,
  defer,
  filter,
  ignoreElements,
  map,
  mergeWith,
  type Observable,
  of,
  repeat,
  switchMap,
  takeWhile,
  timer,
} from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { type EpochMs, epochMs, podUid } from "../core/ids.ts";
import { isPathSegment } from "../core/pathSegment.ts";
import type { Clock } from "../ports/clock.ts";
import type { RuntimeService } from "../ports/cri.ts";
import { ContainerEventType } from "../gen/cri.ts";
import type { RuntimeChange, RuntimeSignal } from "../ports/kubeletPorts.ts";
import type { ContainerdHint } from "./containerdEvents.ts";

const NANOS_PER_MS = 1_000_000n;
/** Delay before a broken stream is opened again. */
const REOPEN_MS = 200;
/** Time without a failure after which a stream counts as open. */
const PROVED_MS = 500;
/** Period for retrying a runtime without events, which may be upgraded meanwhile. */
const ASK_AGAIN_MS = 60_000;

type Hint = RuntimeSignal & { readonly kind: "hint" };

const CRI_CHANGES: ReadonlyMap<ContainerEventType, RuntimeChange> = new Map([
  [ContainerEventType.CONTAINER_CREATED_EVENT, "created"],
  [ContainerEventType.CONTAINER_STARTED_EVENT, "started"],
  [ContainerEventType.CONTAINER_STOPPED_EVENT, "stopped"],
  [ContainerEventType.CONTAINER_DELETED_EVENT, "deleted"],
]);
const CONTAINERD_CHANGES: Readonly<Record<ContainerdHint["kind"], RuntimeChange | undefined>> = {
  create: "created",
  start: "started",
  exit: "stopped",
  delete: "deleted",
  oom: undefined,
};

/** Ports of the source. */
export interface EventedPlegPorts {
  readonly runtime: Pick<RuntimeService, "getContainerEvents">;
  /** containerd's own events, where the endpoint may be containerd. */
  readonly containerdHints$: Observable<ContainerdHint> | undefined;
  readonly clock: Clock;
}

/**
 * Signals of one event stream after the other. A stream counts as open after its first event, or when it has not
 * failed for a while: opening one gives no answer of its own.
 *
 *     GetContainerEvents   (500 ms) e---e--#  (200 ms) #  (200 ms)  (500 ms) e
 *     output               o------s-h---h--l--------------------------------s-h    o opening, s streaming, l lost
 *
 * Cancels: the open stream. Errors: never, nor does it complete. Bound: nothing is buffered.
 */
export function eventedPleg({ runtime, containerdHints$, clock }: EventedPlegPorts): Observable<RuntimeSignal> {
  const unsupported$: Observable<RuntimeSignal> = concat(
    of<RuntimeSignal>({ kind: "unsupported" }),
    timer(ASK_AGAIN_MS, clock.scheduler).pipe(ignoreElements()),
  );
  const opened = (
    via: "cri" | "containerd",
    hints$: Observable<RuntimeSignal>,
    otherwise$: Observable<RuntimeSignal>,
  ): Observable<RuntimeSignal> => {
    const streaming: RuntimeSignal = { kind: "streaming", via };
    const proved$ = timer(PROVED_MS, clock.scheduler).pipe(map(() => streaming));
    const heard$ = hints$.pipe(switchMap((heard) => of(streaming, heard)));
    const ended$ = of<RuntimeSignal>({ kind: "lost", reason: "the runtime ended the stream", isAway: false });
    return concat(heard$, ended$).pipe(
      mergeWith(proved$),
      takeWhile((signal) => signal.kind !== "lost", true),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (error.code === "Unimplemented") return otherwise$;
        return of<RuntimeSignal>({ kind: "lost", reason: error.message, isAway: error.code === "Unavailable" });
      }),
    );
  };
  const viaContainerd$ =
    containerdHints$ === undefined
      ? unsupported$
      : opened(
          "containerd",
          containerdHints$.pipe(
            map(({ kind, containerId, timestamp }) => ({
              ...hint(undefined, containerId, CONTAINERD_CHANGES[kind], timestamp),
              aheadOfStatus: kind === "exit",
            })),
          ),
          unsupported$,
        );
  const viaCri$ = defer(() => runtime.getContainerEvents({})).pipe(
    map(({ podSandboxStatus, containerId, containerEventType, createdAt }) =>
      hint(
        podSandboxStatus?.metadata?.uid,
        containerId,
        CRI_CHANGES.get(containerEventType),
        epochMs(Number(createdAt / NANOS_PER_MS)),
      ),
    ),
  );
  const streams$ = opened("cri", viaCri$, viaContainerd$).pipe(
    repeat({ delay: () => timer(REOPEN_MS, clock.scheduler) }),
  );
  return concat(of<RuntimeSignal>({ kind: "opening" }), streams$).pipe(changesAndHints);
}

/** Passes every hint, and other signals only when they differ from the previous one. */
function changesAndHints(signals$: Observable<RuntimeSignal>): Observable<RuntimeSignal> {
  return defer(() => {
    let said = "";
    return signals$.pipe(
      filter((signal) => {
        if (signal.kind === "hint") return true;
        const isNew = signal.kind !== said;
        said = signal.kind;
        return isNew;
      }),
    );
  });
}

const hint = (
  uid: string | undefined,
  containerId: string,
  change: RuntimeChange | undefined,
  sentAt: EpochMs,
): Hint => ({
  kind: "hint",
  podUid: uid === undefined || !isPathSegment(uid) ? undefined : podUid(uid),
  containerId,
  change,
  aheadOfStatus: false,
  ...(sentAt > 0 && { sentAt }),
});
