/**
 * Decides which pods are leftovers (neither the registry nor the runtime has them), and removes their directories, logs
 * and cgroups, and dangling links to logs. Runs once all sources are known, then periodically. Owner of the cells
 * `orphans` and `leftStages`; releases user IDs and volumes through their owners (cells `idRanges`, `volumes`), and runs the
 * unstaging of volumes that their last pod leaves. Bound: one sweep of directories
 * and cgroups, one of logs, one of stages, and one removal in each. Drivers may hang in the first and the last: no sweep waits for
 * another one. Upstream: HandlePodCleanups, cleanupOrphanedPodDirs, evictPodLogsDirectories.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, merge, type Observable, of, switchMap, tap } from "rxjs";
import { isContentGone } from "../core/container/containerGc.ts";
import { toKubeletError } from "../core/errors.ts";
import { type PodUid, podUid } from "../core/ids.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { parseContainerLogLink, parsePodLogDir, podDir, podsDir } from "../core/paths.ts";
import { parsePodCgroupName, qosCgroupName } from "../core/resources/podCgroup.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import { inSequence } from "../operators/inSequence.ts";
import { longTimer } from "../operators/longTimer.ts";
import { orElse } from "../operators/orElse.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../state/nodeState.ts";
import type { UserNamespaces } from "./node/userNamespaces.ts";
import { removeUnmounted, unmountBelow } from "./volumes/removeUnmounted.ts";
import type { Volumes } from "./volumes/volumes.ts";

/** Services that release a removed pod's user IDs and volumes. */
interface Services {
  readonly userNamespaces: Pick<UserNamespaces, "release">;
  readonly volumes: Pick<Volumes, "forget" | "release" | "unpublish" | "unstage" | "unstaging$">;
}
type Ports = Pick<KubeletPorts, "files" | "mounts" | "cgroups" | "clock" | "telemetry">;
type Config = Pick<KubeletConfig, "directories" | "resyncPeriodMs" | "cgroupRoot" | "cgroupsPerQos">;
interface State extends Pick<NodeView, "registry" | "listing" | "runtimeStatuses"> {
  /** The cells that housekeeping owns. */
  readonly orphans: NodeState["orphans"];
  readonly leftStages: NodeState["leftStages"];
}

/** Sweeps once `ready$` emits: before the registry knows the pods of all sources, every pod looks like a leftover. */
export function housekeeping(
  inputs: { readonly ready$: Observable<unknown> },
  ports: Ports,
  config: Config,
  state: State,
  services: Services,
): Observable<never> {
  // The cgroup of a pod stays until its volumes were tried: memory of a tmpfs is charged to it.
  const sweepPods = (): Observable<never> =>
    concat(sweepPodDirs(ports, config, state, services), sweepCgroups(ports, config, state));
  const sweepLogs = (): Observable<never> =>
    concat(sweepLogDirs(ports, config, state), sweepLogLinks(ports, config, state));
  const { clock } = ports;
  return inputs.ready$.pipe(
    switchMap(() =>
      merge(
        pollAfter(clock, config.resyncPeriodMs, sweepPods),
        pollAfter(clock, config.resyncPeriodMs, sweepLogs),
        pollAfter(clock, config.resyncPeriodMs, () => sweepStages(ports, state, services)),
        attempts(clock, services.volumes.unstaging$).pipe(conflateMap(() => sweepStages(ports, state, services))),
      ),
    ),
  );
}

/**
 * Attempts at a volume that its driver has not unstaged, until the periodic sweeps go on: delays after the failure. The
 * gaps double from 500 ms, as upstream's.
 */
const ATTEMPTS_MS = [500, 1_500, 3_500, 7_500, 15_500, 31_500];

/** Emits when volumes that stay are due for an attempt; another one that stays starts the delays again. */
const attempts = (clock: Clock, stays$: Observable<unknown>): Observable<unknown> =>
  stays$.pipe(switchMap(() => merge(...ATTEMPTS_MS.map((ms) => longTimer(clock, ms)))));

/** Logs the reason why a volume stays staged once, and again when the reason changes. */
const sweepStages = (
  { telemetry }: Pick<Ports, "telemetry">,
  { leftStages }: Pick<State, "leftStages">,
  { volumes }: Services,
): Observable<never> =>
  volumes.unstage().pipe(
    tap((left) => {
      const known = new Map(leftStages.value.map(({ path, reason }) => [path, reason]));
      for (const { path, reason } of left) {
        if (known.get(path) !== reason) telemetry.log.warn("A volume without a pod stays staged", { path, reason });
      }
      if (left.length > 0 || known.size > 0) leftStages.set(left);
    }),
    ignoreElements(),
  );

function isOrphan(uid: string, { registry, listing }: State): boolean {
  const key = podUid(uid);
  return !registry.value.records.has(key) && listing.value?.pods.has(key) !== true;
}

/** Logs the reason why a directory stays once, and again when the reason changes. */
function sweepPodDirs(
  ports: Ports,
  { directories }: Config,
  state: State,
  { userNamespaces, volumes }: Services,
): Observable<never> {
  const { files, telemetry } = ports;
  const { log, metrics } = telemetry;
  return defer(() => {
    let found = 0;
    const stays = new Map<PodUid, string>();
    const remove = (name: string): Observable<never> => {
      const uid = podUid(name);
      const path = podDir(directories, uid);
      found += 1;
      return concat(
        userNamespaces.release(uid),
        volumes.unpublish(uid),
        unmountBelow(ports, path),
        volumes.release(uid),
        removeUnmounted(ports, path),
      ).pipe(
        tap({
          complete: () => {
            log.info("Removed the leftovers of an earlier pod", { path });
            if (isOrphan(uid, state)) volumes.forget(uid);
          },
        }),
        ignoreElements(),
        catchError((thrown: unknown) => {
          const { message } = toKubeletError(thrown);
          stays.set(uid, message);
          if (state.orphans.value.get(uid) !== message) {
            log.warn("Cannot remove the leftovers of an earlier pod", { path, error: thrown });
          }
          return EMPTY;
        }),
      );
    };
    const count = (): Observable<never> => {
      if (stays.size > 0 || state.orphans.value.size > 0) state.orphans.set(stays);
      metrics.gauge("kubelet_orphan_pod_cleaned_volumes", found);
      metrics.gauge("kubelet_orphan_pod_cleaned_volumes_errors", stays.size);
      return EMPTY;
    };
    return concat(
      sweepEach(files.list(podsDir(directories)), () => (uid) => isOrphan(uid, state), remove),
      defer(count),
    );
  });
}

function sweepLogDirs({ files, telemetry }: Ports, { directories }: Config, state: State): Observable<never> {
  const isLeft = (name: string): boolean => {
    const parsed = parsePodLogDir(name);
    if (parsed === undefined) return false;
    const { value: registry } = state.registry;
    const uid = podUid(parsed.uid);
    return registry.records.has(uid) ? isContentGone(registry, uid) : isOrphan(uid, state);
  };
  const remove = (name: string): Observable<never> => {
    const path = `${directories.podLogsDir}/${name}`;
    return removal(path, files.remove(path), telemetry);
  };
  return sweepEach(files.list(directories.podLogsDir), () => isLeft, remove);
}

function sweepLogLinks(
  { files, telemetry }: Ports,
  { directories }: Config,
  { runtimeStatuses: statuses }: State,
): Observable<never> {
  const look = () => {
    const alive = statuses.values().flatMap(({ containers }) => containers.filter(({ state }) => state !== "exited"));
    const known = new Set<string>(alive.map(({ id }) => id));
    return (name: string): boolean => {
      const id = parseContainerLogLink(name);
      return id !== undefined && !known.has(id);
    };
  };
  const removeDangling = (name: string): Observable<never> => {
    const path = `${directories.containerLogsDir}/${name}`;
    return files.kindOf(path).pipe(
      switchMap((kind) => (kind === undefined ? removal(path, files.remove(path), telemetry) : EMPTY)),
      orElse(() => EMPTY),
    );
  };
  return sweepEach(files.list(directories.containerLogsDir), look, removeDangling);
}

function sweepCgroups({ cgroups, telemetry }: Ports, config: Config, state: State): Observable<never> {
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  const isLeft = (name: string): boolean => {
    const uid = parsePodCgroupName(name);
    return uid !== undefined && isOrphan(uid, state);
  };
  const parents = (["Guaranteed", "Burstable", "BestEffort"] as const).map((qos) => qosCgroupName(config, qos));
  return inSequence(parents, (parent) =>
    sweepEach(
      cgroups.list(parent),
      () => isLeft,
      (name) => {
        const cgroup = `${parent}/${name}`;
        return removal(cgroup, cgroups.destroy(cgroup), telemetry);
      },
    ),
  );
}

/**
 * Removes the leftovers one after the other. `look` computes them from current state, and runs again right before
 * each removal, since a pod may return while others are removed.
 */
const sweepEach = (
  names: Call<readonly string[]>,
  look: () => (name: string) => boolean,
  remove: (name: string) => Observable<never>,
): Observable<never> =>
  names.pipe(
    // A directory that cannot be listed waits for the next sweep.
    orElse(() => of([])),
    switchMap((found) => inSequence(found.filter(look()), (name) => (look()(name) ? remove(name) : EMPTY))),
  );

const removal = (path: string, remove: Call<void>, { log }: Ports["telemetry"]): Observable<never> =>
  remove.pipe(
    tap({ complete: () => log.info("Removed the leftovers of an earlier pod", { path }) }),
    ignoreElements(),
    catchError((error: unknown) => {
      log.warn("Cannot remove the leftovers of an earlier pod", { path, error });
      return EMPTY;
    }),
  );
