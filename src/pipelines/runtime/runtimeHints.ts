/**
 * Maps hints of the runtime's event stream to pods. A hint about an unknown container is kept for the next inspection
 * (missedHints.ts); a hint that precedes the state of the runtime is followed until the runtime shows it. Bound: one
 * timer for each container with an announced exit.
 */
import { connect, defer, EMPTY, filter, map, merge, type Observable, of, tap, timer } from "rxjs";
import type { PodUid } from "../../core/ids.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { RuntimeListing } from "../../core/runtime/runtimeListing.ts";
import { conflateByKey } from "../../operators/conflateByKey.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RuntimeSignal } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import type { MissedHints } from "./missedHints.ts";
import { findIdentified } from "../../core/findNamed.ts";

/**
 * Delays between inspections for an exit that was announced but does not show yet. On a busy machine that takes seconds;
 * the relist after resyncPeriodMs finds what is later still.
 */
const EXIT_LOOKS_MS = [20, 10, 10, 20, 40, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800];

/** The known pods of the runtime. */
interface KnownPods {
  readonly listing: ReadonlyCell<RuntimeListing | undefined>;
  readonly runtimeStatuses: ReadonlyKeyedCell<PodUid, PodRuntimeStatus>;
}

/** Returns the pods to inspect for the hints among the signals. Never errors. */
export function hintedPods(
  signals$: Observable<RuntimeSignal>,
  cells: KnownPods,
  missed: MissedHints,
  clock: Clock,
): Observable<PodUid> {
  return signals$.pipe(
    map((signal) => (signal.kind === "hint" ? { ...signal, podUid: podOf(signal, cells) } : undefined)),
    tap((hint) => {
      if (hint?.podUid === undefined && hint?.containerId !== undefined) missed.note(hint.containerId);
    }),
    filter((hint) => hint?.podUid !== undefined),
    connect((hints$) =>
      merge(
        hints$.pipe(
          filter((hint) => hint?.aheadOfStatus !== true),
          map((hint) => hint?.podUid),
        ),
        hints$.pipe(
          filter((hint) => hint?.aheadOfStatus === true),
          conflateByKey((hint) => looksUntilExitShows(hint?.podUid, hint?.containerId, cells, clock), {
            key: (hint) => hint?.containerId,
            limit: Number.POSITIVE_INFINITY,
          }),
        ),
      ),
    ),
    filter((uid) => uid !== undefined),
  );
}

/**
 * containerd 1.6 reports an exit some 20 to 40 ms before its CRI shows it, and sends no event when it does. An
 * immediate inspection would miss the exit, unless the container is unknown so far.
 */
function looksUntilExitShows(
  uid: PodUid | undefined,
  id: string | undefined,
  { runtimeStatuses: statuses }: KnownPods,
  clock: Clock,
): Observable<PodUid> {
  const isEnded = (): boolean | undefined => {
    const pod = uid === undefined ? undefined : statuses.get(uid);
    const container = id === undefined ? undefined : findIdentified(pod?.containers, id);
    if (container !== undefined) return container.state === "exited";
    const sandbox = pod?.sandboxes.find((s) => s.id === id);
    return sandbox === undefined ? undefined : !sandbox.ready;
  };
  const looks$ = inSequence(EXIT_LOOKS_MS, (delayMs) =>
    isEnded() === false ? timer(delayMs, clock.scheduler).pipe(map(() => uid)) : EMPTY,
  );
  return defer(() => (isEnded() === undefined ? of(uid) : looks$)).pipe(filter((known) => known !== undefined));
}

/** Returns the pod of a hint: named in it, or known by a container of an inspection. */
function podOf(
  signal: RuntimeSignal & { kind: "hint" },
  { listing, runtimeStatuses: statuses }: KnownPods,
): PodUid | undefined {
  if (signal.podUid !== undefined || signal.containerId === undefined) return signal.podUid;
  const id: string = signal.containerId;
  const listed = listing.value?.owners.get(id);
  if (listed !== undefined) return listed;
  // Containers created since the last relist: their pods were inspected after our own call created them.
  return statuses
    .values()
    .find((pod) => pod.containers.some((c) => c.id === id) || pod.sandboxes.some((s) => s.id === id))?.podUid;
}
