/**
 * Verdicts on disk, so that a container that was ready stays ready over a restart of the kubelet. One small file per
 * pod in its directory, gone with it. What makes a container ready is on disk before anybody is told: a kubelet killed
 * in between would take it back. Bound: one write at a time; of verdicts that get worse the newest.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  type Observable,
  skip,
  switchMap,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podDir } from "../../core/paths.ts";
import type { ProbeVerdict } from "../../core/pod/podActionsTypes.ts";
import { decodeProbeJournal, encodeProbeJournal, MAX_JOURNAL_BYTES } from "../../core/probe/probeJournal.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PodContext } from "../podContext.ts";
import type { ProbeMemory } from "../podMemories.ts";

/** A write that failed is repeated after this. */
const WRITE_AGAIN_MS = 10_000;
/** A disk that does not answer holds the pod back no longer than this. */
const READ_DEADLINE_MS = 5_000;
/** Nor does it hold back that a container is ready. */
const WRITE_AHEAD_MS = 1_000;
const JOURNAL_MODE = 0o600;

/** Whose journal it is and what it stands on. */
export interface ProbeJournal {
  readonly uid: PodUid;
  readonly probing: ProbeMemory;
  readonly config: Pick<KubeletConfig, "directories">;
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
}

/** The journal of the pod that is being worked on. */
export const journalOf = ({ identity, memory, config, ports }: PodContext): ProbeJournal => ({
  uid: identity.uid,
  probing: memory.probing,
  config,
  ports,
});

const pathOf = ({ uid, config }: ProbeJournal): string => `${podDir(config.directories, uid)}/probe-verdicts.json`;

/** Puts what an earlier kubelet knew into the memory, then completes. A file that cannot be used is put aside. */
export function restoreVerdicts(journal: ProbeJournal): Observable<never> {
  const { uid, probing, ports } = journal;
  const path = pathOf(journal);
  return defer(() => ports.files.readTail(path, MAX_JOURNAL_BYTES)).pipe(
    deadline(READ_DEADLINE_MS, ports.clock),
    switchMap((text) => {
      const verdicts = decodeProbeJournal(text);
      if (verdicts === undefined) return putAside(journal, text);
      probing.verdicts.set(verdicts);
      probing.file.written = text;
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

/** Writes the file if it says something else than what is, or is about to be, told. Errors: what the disk says. */
function write(journal: ProbeJournal): Observable<never> {
  const { probing, ports } = journal;
  const { file, verdicts } = probing;
  const write$ = defer(() => {
    const text = encodeProbeJournal(new Map([...verdicts.value, ...file.ahead]));
    if (text === file.written) return EMPTY;
    // No container outlives the machine, and with it no verdict: waiting for the disk would only delay what is told.
    return ports.files
      .replaceFile(pathOf(journal), text, JOURNAL_MODE, "kubelet")
      .pipe(tap({ complete: () => (file.written = text) }), ignoreElements());
  });
  return file.gate.run(write$);
}

/** Writes the verdict on a container that nobody was told of yet, then completes, whatever came of it. */
export const writeAhead = (journal: ProbeJournal, name: string, verdict: ProbeVerdict): Observable<never> =>
  defer(() => {
    const { ahead } = journal.probing.file;
    ahead.set(name, verdict);
    return write(journal).pipe(
      deadline(WRITE_AHEAD_MS, journal.ports.clock),
      catchError((thrown: unknown) => {
        warn(journal, thrown);
        return EMPTY;
      }),
      finalize(() => ahead.delete(name)),
    );
  });

const warn = ({ uid, ports }: ProbeJournal, thrown: unknown): void =>
  ports.telemetry.log.warn("Cannot write probe verdicts", { podUid: uid, error: toKubeletError(thrown) });

/** Writes the verdicts after they changed, for as long as it is subscribed. */
export function keepVerdicts(journal: ProbeJournal): Observable<never> {
  const { probing, ports } = journal;
  const writeNewest = (): Observable<never> =>
    write(journal).pipe(
      catchError((thrown: unknown) => {
        warn(journal, thrown);
        return longTimer(ports.clock, WRITE_AGAIN_MS).pipe(switchMap(writeNewest));
      }),
    );
  return probing.verdicts.changes$.pipe(skip(1), conflateMap(writeNewest));
}
