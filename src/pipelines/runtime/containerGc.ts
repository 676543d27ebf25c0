/**
 * Container garbage collection: removes dead containers and sandboxes, once `ready$` emits and every minute.
 * core/container/containerGc.ts decides; until the registry knows the pods of all sources, no pod counts as gone.
 * Bounds: one round at a time, one removal at a time, each with the deadline of its call. Writes no cell. Upstream:
 * pkg/kubelet/container/container_gc.go, kuberuntime_gc.go and StartGarbageCollection; housekeeping.ts has its part
 * about logs.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  tap,
} from "rxjs";
import {
  containersToRemove,
  isContentGone,
  isRuntimeGone,
  sandboxesToRemove,
} from "../../core/container/containerGc.ts";
import { parseContainerAnnotations, parseSandboxLabels } from "../../core/container/labels.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { type PodUid, podUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { isPathSegment } from "../../core/pathSegment.ts";
import { listingOf } from "../../core/runtime/runtimeListing.ts";
import { CONTAINER_GC_SPAN } from "../../core/tracing/spanStart.ts";
import { type Container, ContainerState, type PodSandbox } from "../../gen/cri.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import { traced } from "../../operators/traced.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { portsUnder } from "../portsUnder.ts";
import { removeContainerLogs } from "../removeContainerLogs.ts";

type Ports = Pick<KubeletPorts, "clock" | "files" | "logFiles" | "runtime" | "telemetry" | "tracing">;
type Config = Pick<KubeletConfig, "containerGc" | "directories" | "nodeName">;
type State = Pick<NodeView, "podStatuses" | "registry">;

/** ContainerGCPeriod of upstream. */
const PERIOD_MS = 60_000;
/** Grace period of a container in an unknown state, at least as upstream, and at most. */
const MIN_STOP_SECONDS = 2;
const MAX_STOP_SECONDS = 30;

/** Container garbage collection of a node. */
export interface ContainerGc {
  /** Collects while subscribed; emits events of the node. Never errors. */
  readonly events$: Observable<KubeletEvent>;
  /**
   * Collects once more, after a round that runs, and removes everything dead of the pods that have stopped too. Errors:
   * KubeletError when the runtime lists nothing.
   */
  deleteUnused(): Observable<never>;
  /** Counts the containers that `deleteUnused` would remove now. Errors: likewise. */
  countUnused(): Call<number>;
}

/** Creates the collection, which begins once `ready$` emits. */
export function createContainerGc(
  inputs: { readonly ready$: Observable<unknown> },
  ports: Ports,
  config: Config,
  state: State,
): ContainerGc {
  const rounds = createSemaphore(1);
  const collect = (isGone: typeof isContentGone): Observable<never> =>
    rounds.run(
      traced(
        ports.tracing,
        () => CONTAINER_GC_SPAN,
        (span) => round(portsUnder(ports, span), config, state, isGone),
      ),
    );
  const reported = (): Observable<KubeletEvent> =>
    collect(isContentGone).pipe(
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        ports.telemetry.log.error("Container garbage collection failed", { error });
        return of(nodeEvent(config.nodeName, "ContainerGCFailed", error.message, "Warning"));
      }),
    );
  return {
    events$: inputs.ready$.pipe(switchMap(() => pollAfter(ports.clock, PERIOD_MS, reported))),
    deleteUnused: () => collect(isUnused),
    countUnused: () => decide(ports, config, state, isUnused).pipe(map(({ dead: { length } }) => length)),
  };
}

const isUnused: typeof isContentGone = (registry, uid) => isContentGone(registry, uid) || isRuntimeGone(registry, uid);

/** Lists the runtime afresh, and decides which containers are removed. */
function decide(
  { runtime, clock }: Pick<Ports, "runtime" | "clock">,
  { containerGc: policy }: Config,
  { registry, podStatuses }: State,
  isGone: typeof isContentGone,
) {
  const listings$ = defer(() =>
    forkJoin([runtime.listContainers({ filter: undefined }), runtime.listPodSandbox({ filter: undefined })]),
  );
  return listings$.pipe(
    map(([{ containers }, { items: sandboxes }]) => {
      const { owners } = listingOf(sandboxes, containers);
      const ownerOf = (id: string): PodUid | undefined => owners.get(id);
      // Until the first status of a pod, as after a restart, its dead containers are the only record of its end.
      const isKnown = (uid: PodUid): boolean =>
        podStatuses.get(uid) !== undefined || isContentGone(registry.value, uid);
      const isPodGone = (uid: PodUid): boolean => isKnown(uid) && isGone(registry.value, uid);
      const ofKnownPods = containers.filter(({ id }) => {
        const uid = ownerOf(id);
        return uid !== undefined && isKnown(uid);
      });
      const dead = containersToRemove(ofKnownPods, ownerOf, policy, clock.wallTime(), isPodGone);
      return { containers, sandboxes, ownerOf, isPodGone, dead };
    }),
  );
}

/** A failed removal is logged, and the next round repeats it. */
function round(ports: Ports, config: Config, state: State, isGone: typeof isContentGone): Observable<never> {
  return decide(ports, config, state, isGone).pipe(
    switchMap(({ containers, sandboxes, ownerOf, isPodGone, dead }) => {
      const removed = new Set<string>();
      const unused = (): readonly PodSandbox[] => {
        const left = containers.filter(({ id }) => !removed.has(id));
        return sandboxesToRemove(sandboxes, left, ownerOf, isPodGone);
      };
      return concat(
        inSequence(dead, (container) => removeContainer(container, ports, config, () => removed.add(container.id))),
        defer(() => inSequence(unused(), (sandbox) => removeSandbox(sandbox, ports))),
      );
    }),
  );
}

function removeContainer(listed: Container, ports: Ports, config: Config, onRemoved: () => unknown): Observable<never> {
  const { runtime, telemetry } = ports;
  const { id: containerId, state } = listed;
  return concat(
    // The container may still run.
    state === ContainerState.CONTAINER_UNKNOWN
      ? runtime.stopContainer({ containerId, timeout: BigInt(stopSeconds(listed)) })
      : EMPTY,
    removeLogs(listed, ports, config),
    runtime.removeContainer({ containerId }),
  ).pipe(
    tap({ complete: onRemoved }),
    ignoreElements(),
    catchError((error: unknown) => {
      telemetry.log.error("Failed to remove container", { containerID: containerId, error: toKubeletError(error) });
      return EMPTY;
    }),
  );
}

function stopSeconds({ annotations }: Container): number {
  const { deletionGracePeriodSeconds, terminationGracePeriodSeconds } = parseContainerAnnotations(annotations);
  const seconds = deletionGracePeriodSeconds ?? terminationGracePeriodSeconds ?? MIN_STOP_SECONDS;
  return Math.min(MAX_STOP_SECONDS, Math.max(MIN_STOP_SECONDS, seconds));
}

/** Without a status the logs stay, until the log directory of the pod is removed. */
function removeLogs({ id, labels, metadata }: Container, ports: Ports, config: Config): Observable<never> {
  const pod = parseSandboxLabels(labels);
  const name = metadata?.name ?? "";
  if (pod === undefined || !isPathSegment(name)) return EMPTY;
  const identity = { uid: podUid(pod.podUid), name: pod.podName, namespace: pod.podNamespace };
  return ports.runtime.containerStatus({ containerId: id, verbose: false }).pipe(
    switchMap(({ status }) => {
      const { logPath = "" } = status ?? {};
      return removeContainerLogs(ports, config, identity, { id, name, logPath });
    }),
    orElse(() => EMPTY),
  );
}

/** Usually the sandbox has been stopped before. */
const removeSandbox = ({ id: podSandboxId }: PodSandbox, { runtime, telemetry }: Ports): Observable<never> =>
  concat(runtime.stopPodSandbox({ podSandboxId }), runtime.removePodSandbox({ podSandboxId })).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      telemetry.log.error("Failed to remove sandbox", { sandboxID: podSandboxId, error: toKubeletError(error) });
      return EMPTY;
    }),
  );
