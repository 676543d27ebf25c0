/**
 * Keeps hints about the pod workers' own calls from the PLEG: an inspection after the call shows the change anyway, and one
 * more during a start makes the next call wait. Bounds: the hints that wait are those of calls under way, MAX_HELD for each;
 * MAX_MADE changes are remembered, oldest dropped. Upstream has no counterpart: its relists see no hints.
 *
 *     StartContainer    [----------ok]         [--------failed]
 *     hint of it             a        b              c
 *     passed                                                 c
 */
import { defer, filter, finalize, merge, type Observable, Subject, tap } from "rxjs";
import { createRecentKeys } from "../../core/recentKeys.ts";
import type { Call } from "../../ports/call.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import type { KubeletPorts, RuntimeChange, RuntimeSignal } from "../../ports/kubeletPorts.ts";

const MAX_HELD = 16;
const MAX_MADE = 4_096;

type Hint = RuntimeSignal & { readonly kind: "hint" };

/** See the file header. */
export interface OwnChanges<Ports> {
  /** The ports for those whose calls an inspection of their pod follows. */
  readonly noted: Ports;
  /** All signals but hints of changes that these calls made; those of a failed or cancelled call come when it ends. */
  readonly others$: Observable<RuntimeSignal>;
}

type RuntimePorts = Pick<KubeletPorts, "runtime" | "runtimeSignals$">;

/** The calls under way that make the same change, and the hints of it. */
interface UnderWay {
  calls: number;
  readonly held: Hint[];
}

const ofPart = (id: string, change: RuntimeChange): string => `${change} ${id}`;
/** The new parts of a pod, whose ids only the answers tell. */
const ofNewParts = (podUid: string): string => `new in ${podUid}`;

/** Creates the record of own changes, which is empty. */
export function createOwnChanges<Ports extends RuntimePorts>(ports: Ports): OwnChanges<Ports> {
  const { runtime, runtimeSignals$ } = ports;
  const made = createRecentKeys(MAX_MADE);
  const underWay = new Map<string, UnderWay>();
  const released$ = new Subject<Hint>();
  const isMade = ({ containerId, change }: Hint): boolean =>
    containerId !== undefined && change !== undefined && made.has(ofPart(containerId, change));
  const end = (key: string): void => {
    const ended = underWay.get(key);
    if (ended === undefined) return;
    ended.calls -= 1;
    if (ended.calls > 0) return;
    underWay.delete(key);
    for (const hint of ended.held) if (!isMade(hint)) released$.next(hint);
  };
  /** Makes the call; `changesOf` tells what its success has changed. */
  const during = <T>(key: string, call: () => Call<T>, changesOf: (answer: T) => readonly string[]): Call<T> =>
    defer(() => {
      const entry = underWay.get(key) ?? { calls: 0, held: [] };
      entry.calls += 1;
      underWay.set(key, entry);
      return call().pipe(
        tap((answer) => {
          for (const change of changesOf(answer)) made.add(change);
        }),
        finalize(() => end(key)),
      );
    });
  /** Whether the hint waits for the end of a call. */
  const isHeld = (hint: Hint): boolean => {
    const { containerId, podUid, change } = hint;
    if (change === undefined) return false;
    const isNew = change === "created" || change === "started";
    const keys = [
      ...(containerId === undefined ? [] : [ofPart(containerId, change)]),
      ...(isNew && podUid !== undefined ? [ofNewParts(podUid)] : []),
    ];
    const held = keys.map((key) => underWay.get(key)?.held).find((each) => each !== undefined);
    if (held === undefined || held.length >= MAX_HELD) return false;
    held.push(hint);
    return true;
  };
  const isOther = (signal: RuntimeSignal): boolean => signal.kind !== "hint" || !(isMade(signal) || isHeld(signal));
  return {
    noted: { ...ports, runtime: { ...runtime, ...notedStarts(runtime, during), ...notedChanges(runtime, during) } },
    others$: merge(runtimeSignals$.pipe(filter(isOther)), released$),
  };
}

type During = <T>(key: string, call: () => Call<T>, changesOf: (answer: T) => readonly string[]) => Call<T>;

/** The calls that make a part of a pod. */
const notedStarts = (runtime: RuntimeService, during: During) =>
  ({
    runPodSandbox: (request, options) =>
      during(
        ofNewParts(request.config?.metadata?.uid ?? ""),
        () => runtime.runPodSandbox(request, options),
        ({ podSandboxId }) => [ofPart(podSandboxId, "created"), ofPart(podSandboxId, "started")],
      ),
    createContainer: (request, options) =>
      during(
        ofNewParts(request.sandboxConfig?.metadata?.uid ?? ""),
        () => runtime.createContainer(request, options),
        ({ containerId }) => [ofPart(containerId, "created")],
      ),
  }) satisfies Partial<RuntimeService>;

/** The calls that change a known part of a pod. */
const notedChanges = (runtime: RuntimeService, during: During) => {
  const making = <T>(change: RuntimeChange, id: string, call: () => Call<T>): Call<T> =>
    during(ofPart(id, change), call, () => [ofPart(id, change)]);
  return {
    startContainer: (request, options) =>
      making("started", request.containerId, () => runtime.startContainer(request, options)),
    stopContainer: (request, options) =>
      making("stopped", request.containerId, () => runtime.stopContainer(request, options)),
    removeContainer: (request, options) =>
      making("deleted", request.containerId, () => runtime.removeContainer(request, options)),
    stopPodSandbox: (request, options) =>
      making("stopped", request.podSandboxId, () => runtime.stopPodSandbox(request, options)),
    removePodSandbox: (request, options) =>
      making("deleted", request.podSandboxId, () => runtime.removePodSandbox(request, options)),
  } satisfies Partial<RuntimeService>;
};
