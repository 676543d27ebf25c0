/**
 * The records on disk: read once at the start, then written and removed one by one. Owner of the files below
 * `offline/records` and of the table of them. A record that cannot be used is moved to `offline/aside`. Bounds: those
 * of core/offline/keptRecord.ts; 16 files read, and 4 written, at once.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  from,
  ignoreElements,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  Subject,
  switchMap,
  tap,
  toArray,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  decodeRecord,
  encodeRecord,
  isRecordName,
  type KeptRecord,
  MAX_RECORD_BYTES,
  MAX_RECORDS,
  MAX_RECORDS_BYTES,
  MAX_SEALED_BYTES,
} from "../../core/offline/keptRecord.ts";
import { offlineAsideDir, offlineRecordsDir } from "../../core/paths.ts";
import { sha256 } from "../../core/sha256.ts";
import { utf8Length } from "../../core/utf8Length.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Sealing } from "../../ports/sealing.ts";

export interface RecordStore {
  /** Reads all records, once. Sets aside those that cannot be used. Never errors. */
  load(): Observable<readonly KeptRecord[]>;
  /** Whether the record on disk has this value; undefined: there is none of this name. */
  has(name: string, value: unknown): boolean | undefined;
  /** Names of the records on disk. */
  names(): readonly string[];
  /** Writes the record unless the file has it. Errors with the reason; the file has the old record or none then. */
  write(name: string, record: KeptRecord): Observable<never>;
  remove(name: string): Observable<never>;
  /** Moves the file of a record aside, with a line in the log. Never errors. */
  setAside(name: string, reason: string): Observable<never>;
  /** Emits after each change of a file. */
  readonly changes$: Observable<void>;
}

interface Entry {
  /** The value as last written; undefined while it is being written, or after it was read. */
  readonly value: unknown;
  /** Digest of the text; empty while the file is being written. */
  readonly digest: string;
  readonly bytes: number;
}

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const READS_AT_ONCE = 16;
/** Files that are set aside; further ones are removed. */
const MAX_ASIDE = 16;
/** Suffix of a file that a crash left unfinished. */
const UNFINISHED = ".new";

type Ports = Pick<KubeletPorts, "files" | "telemetry">;

/** Creates the store; nothing is read before `load`. */
export function createRecordStore(
  { files, telemetry: { log, metrics } }: Ports,
  sealing: Sealing,
  { directories }: Pick<KubeletConfig, "directories">,
): RecordStore {
  const directory = offlineRecordsDir(directories);
  const aside = offlineAsideDir(directories);
  const entries = new Map<string, Entry>();
  const changes$ = new Subject<void>();
  let bytes = 0;
  const note = (name: string, entry: Entry | undefined): void => {
    bytes += (entry?.bytes ?? 0) - (entries.get(name)?.bytes ?? 0);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
    metrics.gauge("rxlet_offline_records", entries.size, {});
    changes$.next();
  };
  const remove = (name: string): Observable<never> =>
    files.remove(`${directory}/${name}`).pipe(ignoreElements(), tap({ complete: () => note(name, undefined) }));
  const setAside = (name: string, reason: string): Observable<never> => {
    const path = `${directory}/${name}`;
    const move$ = files.list(aside).pipe(
      switchMap((there) =>
        there.length >= MAX_ASIDE
          ? EMPTY
          : concat(
              files.makeDirectory(aside, DIRECTORY_MODE),
              files
                .readInside(directory, name, MAX_SEALED_BYTES)
                .pipe(switchMap((content) => files.replaceFile(`${aside}/${name}`, content, FILE_MODE))),
            ),
      ),
      ignoreElements(),
    );
    return defer(() => {
      metrics.count("rxlet_offline_record_failures_total", { action: "read" });
      log.error("A record for a boot without the API server cannot be used and is set aside", { path, aside, reason });
      return concat(move$, remove(name));
    }).pipe(failing((error) => log.error("Cannot set a record aside", { path, error })));
  };
  /** Emits the record of a file, if it can be used. */
  const read = (name: string): Observable<KeptRecord> => {
    if (name.endsWith(UNFINISHED) && isRecordName(name.slice(0, -UNFINISHED.length))) {
      return remove(name).pipe(failing((error) => log.warn("Cannot remove an unfinished record", { name, error })));
    }
    if (!isRecordName(name)) {
      log.warn("A file among the records for a boot without the API server is ignored: it is none of the kubelet's", {
        path: `${directory}/${name}`,
      });
      return EMPTY;
    }
    return files.readInside(directory, name, MAX_SEALED_BYTES).pipe(
      switchMap((sealed) => sealing.open(name, sealed)),
      switchMap((text) => {
        const size = utf8Length(text);
        if (bytes + size > MAX_RECORDS_BYTES)
          return setAside(name, `the records have more than ${MAX_RECORDS_BYTES} bytes`);
        const record = decodeRecord(name, text);
        if (!record.ok) return setAside(name, record.error.message);
        note(name, { value: undefined, digest: sha256(text), bytes: size });
        return of(record.value);
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        // Only content can be at fault for good: a key or disk that cannot be read may be back at the next start.
        if (error.code === "InvalidArgument") return setAside(name, error.message);
        log.error("Cannot read a record for a boot without the API server", { path: `${directory}/${name}`, error });
        return EMPTY;
      }),
    );
  };
  return {
    changes$,
    remove: (name) => defer(() => (entries.has(name) ? remove(name) : EMPTY)),
    setAside,
    names: () => [...entries.keys()],
    has(name, value) {
      const entry = entries.get(name);
      return entry && entry.value === value;
    },
    load: () =>
      concat(
        files.makeDirectory(directory, DIRECTORY_MODE).pipe(ignoreElements()),
        files.list(directory).pipe(
          switchMap((names) => {
            const left = names.length - MAX_RECORDS;
            if (left > 0) log.error("Too many records for a boot without the API server: some are ignored", { left });
            return from(names.slice(0, MAX_RECORDS));
          }),
          boundedMergeMap(read, { limit: READS_AT_ONCE, queueLimit: MAX_RECORDS }),
        ),
      ).pipe(
        failing((error) => log.error("Cannot read the records for a boot without the API server", { error })),
        toArray(),
      ),
    write: (name, record) =>
      defer(() => {
        const text = encodeRecord(record);
        const digest = sha256(text);
        const known = entries.get(name);
        const size = utf8Length(text);
        const entry = { value: record.value, digest, bytes: size };
        if (known?.digest === digest) {
          note(name, entry);
          return EMPTY;
        }
        const fault = sizeFault(size, bytes - (known?.bytes ?? 0), entries.size + (known === undefined ? 1 : 0));
        if (fault !== undefined) throw fault;
        note(name, { value: undefined, digest: "", bytes: size });
        return sealing.seal(name, text).pipe(
          switchMap((sealed) => files.replaceFile(`${directory}/${name}`, sealed, FILE_MODE)),
          ignoreElements(),
          tap({ complete: () => note(name, entry) }),
        );
      }).pipe(
        catchError((thrown: unknown) => {
          metrics.count("rxlet_offline_record_failures_total", { action: "write" });
          throw toKubeletError(thrown);
        }),
      ),
  };
}

function sizeFault(size: number, others: number, count: number): KubeletError | undefined {
  const refuse = (why: string): KubeletError => kubeletError("ResourceExhausted", why);
  if (size > MAX_RECORD_BYTES) return refuse(`the record has ${size} bytes; the limit is ${MAX_RECORD_BYTES}`);
  if (size + others > MAX_RECORDS_BYTES)
    return refuse(`all records together are limited to ${MAX_RECORDS_BYTES} bytes`);
  return count > MAX_RECORDS ? refuse(`there are ${MAX_RECORDS} records already`) : undefined;
}

/** Reports a failure and ends. */
const failing = <T>(report: (error: KubeletError) => void): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    report(toKubeletError(thrown));
    return EMPTY;
  });
