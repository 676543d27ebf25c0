/**
 * Probe verdicts on disk, so that a ready container stays ready over a restart of the kubelet. One small file per pod
 * in its directory, removed with it. A verdict that makes a container ready is on disk before it is reported: a
 * kubelet that is killed in between would revoke it. Bound: one write at a time; of failing verdicts the newest.
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

/** Delay before a failed write is repeated. */
const WRITE_AGAIN_MS = 10_000;
/** Upper bound on the delay of the pod by a disk without an answer. */
const READ_DEADLINE_MS = 5_000;
/** Upper bound on the delay of a ready verdict by the disk. */
const WRITE_AHEAD_MS = 1_000;
const JOURNAL_MODE = 0o600;

/** The pod of a journal and its dependencies. */
export interface ProbeJournal {
  readonly uid: PodUid;
  readonly probing: ProbeMemory;
  readonly config: Pick<KubeletConfig, "directories">;
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
}

/** Returns the journal of the pod of this context. */
export const journalOf = ({ identity, memory, config, ports }: PodContext): ProbeJournal => ({
  uid: identity.uid,
  probing: memory.probing,
  config,
  ports,
});

const pathOf = ({ uid, config }: ProbeJournal): string => `${podDir(config.directories, uid)}/probe-verdicts.json`;

/** Loads the verdicts of an earlier kubelet into the memory, then completes. Sets an unusable file aside. */
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
  ports.telemetry.log.warn("Probe verdicts cannot be used; containers are probed again", { podUid: uid, path, aside });
  return concat(ports.files.writeFile(aside, text, JOURNAL_MODE), ports.files.remove(path)).pipe(ignoreElements());
}

/**
 * Writes the file if its content differs from the verdicts that are, or are about to be, reported. Errors: those of
 * the disk.
 */
function write(journal: ProbeJournal): Observable<never> {
  const { probing, ports } = journal;
  const { file, verdicts } = probing;
  const write$ = defer(() => {
    const text = encodeProbeJournal(new Map([...verdicts.value, ...file.ahead]));
    if (text === file.written) return EMPTY;
    // A container does not survive a reboot, and neither does its verdict: waiting for the disk would only delay the
    // report.
    return ports.files
      .replaceFile(pathOf(journal), text, JOURNAL_MODE, "kubelet")
      .pipe(tap({ complete: () => (file.written = text) }), ignoreElements());
  });
  return file.gate.run(write$);
}

/** Writes an unreported verdict on a container, then completes, whatever the outcome is. */
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

/** Writes the verdicts after each change, while subscribed. */
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
