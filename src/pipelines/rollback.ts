/**
 * Runs the last good version of a manifest again when a changed one does not become Ready in time. Stands between the
 * manifest directory and podConfig; core/rollback decides. Owner of the cell `rollbacks`, and of the records on disk,
 * which are written before a decision takes effect. Bounds: MAX_RECORDS records, one look at a time.
 */
import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  Subject,
  switchMap,
  tap,
} from "rxjs";
import { podTrouble } from "../core/dev/podTrouble.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { KubeletEvent } from "../core/events.ts";
import { findTyped } from "../core/findNamed.ts";
import { podUid, type MonotonicMs, type PodFullName } from "../core/ids.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import {
  lookForRollbacks,
  restoredStates,
  type RolledBack,
  type RollbackLook,
  type RollbackRecord,
  type RollbackStates,
  rollbackViews,
} from "../core/rollback/rollback.ts";
import {
  decodeRollback,
  encodeRollback,
  isRollbackFile,
  MAX_RECORD_BYTES,
  MAX_RECORDS,
  rollbackDirectory,
  rollbackFileName,
} from "../core/rollback/rollbackFile.ts";
import { sameItems } from "../core/sameValue.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import { deadline } from "../operators/deadline.ts";
import { inSequence } from "../operators/inSequence.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../state/nodeState.ts";

type Ports = Pick<KubeletPorts, "files" | "clock" | "telemetry" | "machine">;
type Cells = Pick<NodeView, "podStatuses" | "runtimeState" | "shuttingDown"> & Pick<NodeState, "rollbacks">;

/** Upper bound on the delay of the pods by a disk without an answer. */
const DISK_DEADLINE_MS = 5_000;
/** Snapshots and looks that wait for a write. */
const MAX_WAITING = 65_536;

type Input = { readonly snapshot: SourceSnapshot } | "look";

/**
 * Emits the snapshots of all sources; in those of the manifest directory the last good version stands for one that has
 * failed.
 *
 *     snapshots   --f(v1)--(Ready)--f(v2)----------------------f(v3)--
 *     output      --f(v1)-----------f(v2)---(time)--f(v1)------f(v3)--
 *
 * Cancels: a pending write. Errors: those of the source. Bound: see the file.
 */
export function rollback(
  inputs: { readonly snapshots$: Observable<SourceSnapshot> },
  ports: Ports,
  config: Pick<KubeletConfig, "directories">,
  cells: Cells,
): Observable<SourceSnapshot> {
  return inputs.snapshots$.pipe(
    connect((snapshots$) =>
      merge(
        snapshots$.pipe(filter(({ source }) => source !== "file")),
        manifests(snapshots$.pipe(filter(({ source }) => source === "file")), ports, config, cells),
      ),
    ),
  );
}

function manifests(
  snapshots$: Observable<SourceSnapshot>,
  ports: Ports,
  config: Pick<KubeletConfig, "directories">,
  cells: Cells,
): Observable<SourceSnapshot> {
  const { clock } = ports;
  const disk = recordsOnDisk(ports, rollbackDirectory(config.directories.rootDir));
  return defer(() => {
    let states: RollbackStates | undefined;
    let found: SourceSnapshot | undefined;
    let shown: SourceSnapshot | undefined;
    let watched: ReadonlySet<string> = new Set();
    const wake$ = new Subject<MonotonicMs | undefined>();
    const look = (known: RollbackStates, snapshot: SourceSnapshot, isNew: boolean): Observable<SourceSnapshot> => {
      const keepsMissing = snapshot.problems.some(({ severity }) => severity === "error");
      const step = lookForRollbacks(known, snapshot.pods, keepsMissing, lookAt(snapshot, ports, cells));
      states = step.states;
      watched = watchedIn(states);
      const events = step.rolledBack.map(rolledBackEvent);
      const pods = sameItems(step.pods, snapshot.pods) ? snapshot.pods : step.pods;
      const next = { ...snapshot, pods, ...(events.length === 0 ? {} : { events }) };
      const isSame = !isNew && events.length === 0 && shown !== undefined && sameItems(shown.pods, pods);
      const told$ = defer(() => {
        cells.rollbacks.set(rollbackViews(step.states));
        wake$.next(step.wakeAt);
        if (isSame) return EMPTY;
        shown = next;
        return of(next);
      });
      return step.writes.size === 0 ? told$ : concat(disk.write(step.writes), told$);
    };
    const handle = (input: Input): Observable<SourceSnapshot> => {
      const isNew = input !== "look";
      if (isNew && input.snapshot.ready === false) return of(input.snapshot);
      if (isNew) found = input.snapshot;
      const snapshot = found;
      if (snapshot === undefined) return EMPTY;
      if (states !== undefined) return look(states, snapshot, isNew);
      return disk.read().pipe(switchMap((records) => look(restoredStates(records), snapshot, true)));
    };
    const looks$ = merge(
      cells.podStatuses.anyChange$.pipe(filter((uid) => watched.has(uid) && isGood(cells, uid))),
      wake$.pipe(switchMap((at) => (at === undefined ? EMPTY : longTimer(clock, at - clock.monotonicMs())))),
    ).pipe(map((): Input => "look"));
    return merge(looks$, snapshots$.pipe(map((snapshot): Input => ({ snapshot })))).pipe(
      boundedMergeMap(handle, { limit: 1, queueLimit: MAX_WAITING }),
    );
  });
}

/** Versions whose readiness changes a record. */
const watchedIn = (states: RollbackStates): ReadonlySet<string> =>
  new Set(
    [...states.values()].flatMap(({ current, good }) =>
      current === undefined || current.metadata.uid === good?.metadata.uid ? [] : [current.metadata.uid],
    ),
  );

function isGood({ podStatuses }: Pick<Cells, "podStatuses">, uid: string): boolean {
  const status = podStatuses.get(podUid(uid));
  return status?.phase === "Succeeded" || findTyped(status?.conditions, "Ready")?.status === "True";
}

function lookAt(snapshot: SourceSnapshot, { clock, machine }: Ports, cells: Cells): RollbackLook {
  const why = (uid: string): string => {
    const pod = snapshot.pods.find(({ metadata }) => metadata.uid === uid);
    const status = cells.podStatuses.get(podUid(uid));
    if (pod === undefined || status === undefined) return "it has no status";
    const ready = findTyped(status.conditions, "Ready")?.message;
    return podTrouble({ ...pod, status }, undefined) ?? ready ?? `its phase is ${status.phase}`;
  };
  return {
    now: { wall: clock.wallTime(), mono: clock.monotonicMs() },
    boot: machine.bootId,
    isGood: (uid) => isGood(cells, uid),
    why,
    isWell: cells.runtimeState.value.runtimeProblems.length === 0 && !cells.shuttingDown.value,
  };
}

const rolledBackEvent = ({ good, message }: RolledBack): KubeletEvent => {
  const { namespace, name, uid } = good.metadata;
  return {
    ...{ type: "Warning", reason: "ManifestRolledBack", message },
    object: { kind: "Pod", namespace, name, uid, fieldPath: "" },
  };
};

type Records = ReadonlyMap<PodFullName, RollbackRecord>;

interface RecordsOnDisk {
  /** Emits the records of an earlier kubelet, once; a damaged one is left out. */
  read(): Observable<Records>;
  /** Writes and removes records, then completes, whatever the outcome is. */
  write(changes: ReadonlyMap<PodFullName, RollbackRecord | undefined>): Observable<never>;
}

function recordsOnDisk({ files, clock, telemetry }: Ports, directory: string): RecordsOnDisk {
  const { log } = telemetry;
  const written = new Set<string>();
  const readOne = (file: string, found: Map<PodFullName, RollbackRecord>): Observable<never> =>
    files.readTail(`${directory}/${file}`, MAX_RECORD_BYTES).pipe(
      tap((text) => {
        const decoded = decodeRollback(file, text);
        if (decoded === undefined) return log.warn("The last good version of a manifest cannot be used", { file });
        written.add(file);
        found.set(decoded.name, decoded.record);
      }),
      ignoreElements(),
    );
  const put = (file: string, record: RollbackRecord): Observable<void> => {
    const text = encodeRollback(record);
    const isFull = !written.has(file) && written.size >= MAX_RECORDS;
    if (isFull || text.length > MAX_RECORD_BYTES) throw kubeletError("ResourceExhausted", "it exceeds the bound");
    written.add(file);
    return concat(files.makeDirectory(directory, 0o700), files.replaceFile(`${directory}/${file}`, text, 0o600));
  };
  const writeOne = ([name, record]: readonly [PodFullName, RollbackRecord | undefined]): Observable<never> =>
    defer(() => {
      const file = rollbackFileName(name);
      if (record !== undefined) return put(file, record);
      written.delete(file);
      return files.remove(`${directory}/${file}`);
    }).pipe(
      deadline(DISK_DEADLINE_MS, clock),
      ignoreElements(),
      catchError((thrown: unknown) => {
        log.warn("The last good version of a manifest cannot be kept", { pod: name, error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  return {
    read: () =>
      defer(() => {
        const found = new Map<PodFullName, RollbackRecord>();
        const read$ = files.list(directory).pipe(
          switchMap((names) =>
            inSequence(names.filter(isRollbackFile).slice(0, MAX_RECORDS), (file) => readOne(file, found)),
          ),
          deadline(DISK_DEADLINE_MS, clock),
          catchError((thrown: unknown) => {
            log.warn("Not every last good version could be read", { error: toKubeletError(thrown) });
            return EMPTY;
          }),
        );
        return concat(
          read$,
          defer(() => of(found)),
        );
      }),
    write: (changes) => inSequence([...changes], writeOne),
  };
}
