/**
 * Verdicts on disk, so that a container that was ready stays ready over a restart of the kubelet. One small file per
 * pod in its directory, gone with it. Bound: one write at a time, at most one per WRITE_PAUSE_MS.
 */
import {
  auditTime,
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  type Observable,
  skip,
  switchMap,
  takeUntil,
  tap,
} from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import type { PodUid } from "../core/ids.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { podDir } from "../core/paths.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import { decodeProbeJournal, encodeProbeJournal, MAX_JOURNAL_BYTES } from "../core/probe/probeJournal.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import { deadline } from "../operators/deadline.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { PodMemory } from "./podMemory.ts";

/** Verdicts that change together are written together. */
const WRITE_PAUSE_MS = 200;
/** A write that failed is repeated after this. */
const WRITE_AGAIN_MS = 10_000;
/** A disk that does not answer holds the pod back no longer than this. */
const READ_DEADLINE_MS = 5_000;
const JOURNAL_MODE = 0o600;

/** Whose journal it is and what it stands on. */
export interface ProbeJournal {
  readonly uid: PodUid;
  readonly memory: PodMemory;
  readonly config: Pick<KubeletConfig, "directories">;
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
}

const pathOf = ({ uid, config }: ProbeJournal): string => `${podDir(config.directories, uid)}/probe-verdicts.json`;

/** Puts what an earlier kubelet knew into the memory, then completes. A file that cannot be used is put aside. */
export function restoreVerdicts(journal: ProbeJournal): Observable<never> {
  const { uid, memory, ports } = journal;
  const path = pathOf(journal);
  return defer(() => ports.files.readTail(path, MAX_JOURNAL_BYTES)).pipe(
    deadline(READ_DEADLINE_MS, ports.clock),
    switchMap((text) => {
      const verdicts = decodeProbeJournal(text);
      if (verdicts === undefined) return putAside(journal, text);
      memory.verdicts.set(verdicts);
      return EMPTY;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.code !== "NotFound") ports.telemetry.log.warn("Cannot read probe verdicts", { podUid: uid, error });
      return EMPTY;
    }),
  );
}

function putAside({ uid, ports, ...journal }: ProbeJournal, text: string): Observable<never> {
  const path = pathOf({ uid, ports, ...journal });
  const aside = `${path}.corrupt`;
  ports.telemetry.log.warn("Probe verdicts cannot be used; containers are probed anew", { podUid: uid, path, aside });
  return concat(ports.files.writeFile(aside, text, JOURNAL_MODE), ports.files.remove(path)).pipe(ignoreElements());
}

/** Writes the verdicts after they changed, for as long as the pod should run. */
export function keepVerdicts(journal: ProbeJournal, commands$: Observable<PodCommand>): Observable<never> {
  const { uid, memory, ports } = journal;
  return defer(() => {
    let written = encodeProbeJournal(memory.verdicts.value);
    const write = (): Observable<never> => {
      const text = encodeProbeJournal(memory.verdicts.value);
      if (text === written) return EMPTY;
      return ports.files.writeFile(pathOf(journal), text, JOURNAL_MODE).pipe(
        tap({ complete: () => (written = text) }),
        ignoreElements(),
        catchError((thrown: unknown) => {
          ports.telemetry.log.warn("Cannot write probe verdicts", { podUid: uid, error: toKubeletError(thrown) });
          return longTimer(ports.clock, WRITE_AGAIN_MS).pipe(switchMap(write));
        }),
      );
    };
    // Once it is being stopped the directory may go at any time.
    const ends$ = commands$.pipe(filter(({ phase }) => phase !== "sync"));
    return memory.verdicts.changes$.pipe(
      skip(1),
      auditTime(WRITE_PAUSE_MS, ports.clock.scheduler),
      conflateMap(write),
      takeUntil(ends$),
    );
  });
}
