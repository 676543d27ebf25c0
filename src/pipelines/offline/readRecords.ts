/**
 * Reads the records on disk at the start, and moves those that cannot be used aside. Keeps no state. Bounds: those of
 * core/offline/keptRecord.ts; 16 files at once.
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
  switchMap,
  tap,
  toArray,
} from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import {
  decodeRecord,
  isRecordName,
  type KeptRecord,
  MAX_RECORDS,
  MAX_RECORDS_BYTES,
  MAX_SEALED_BYTES,
} from "../../core/offline/keptRecord.ts";
import { sha256 } from "../../core/sha256.ts";
import { utf8Length } from "../../core/utf8Length.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Sealing } from "../../ports/sealing.ts";
import type { RecordTable } from "./recordTable.ts";

/** Places and ports of the records. */
export interface RecordContext extends Pick<KubeletPorts, "files" | "telemetry"> {
  readonly sealing: Sealing;
  readonly table: RecordTable;
  /** Directory of the records. */
  readonly directory: string;
  /** Directory of records that cannot be used. */
  readonly aside: string;
}

export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;
const READS_AT_ONCE = 16;
/** Files that are set aside; further ones are removed. */
const MAX_ASIDE = 16;
/** Suffix of a file that a crash left unfinished. */
const UNFINISHED = ".new";

/** Emits all records that can be used, once. Never errors. */
export function readRecords(context: RecordContext): Observable<readonly KeptRecord[]> {
  const { files, telemetry, directory } = context;
  return concat(
    files.makeDirectory(directory, DIRECTORY_MODE).pipe(ignoreElements()),
    files.list(directory).pipe(
      switchMap((names) => {
        const left = names.length - MAX_RECORDS;
        if (left > 0) {
          telemetry.log.error("Too many records for a boot without the API server: some are ignored", { left });
        }
        return from(names.slice(0, MAX_RECORDS));
      }),
      boundedMergeMap((name) => read(name, context), { limit: READS_AT_ONCE, queueLimit: MAX_RECORDS }),
    ),
  ).pipe(
    failing((error) => telemetry.log.error("Cannot read the records for a boot without the API server", { error })),
    toArray(),
  );
}

/** Emits the record of a file, if it can be used. */
function read(name: string, context: RecordContext): Observable<KeptRecord> {
  const { files, telemetry, directory } = context;
  const path = `${directory}/${name}`;
  if (name.endsWith(UNFINISHED) && isRecordName(name.slice(0, -UNFINISHED.length))) {
    const unremoved = failing<never>((error) =>
      telemetry.log.warn("Cannot remove an unfinished record", { path, error }),
    );
    return files.remove(path).pipe(ignoreElements(), unremoved);
  }
  if (!isRecordName(name)) {
    telemetry.log.warn("A file among the records for a boot without the API server is ignored: it is foreign", {
      path,
    });
    return EMPTY;
  }
  return files.readInside(directory, name, MAX_SEALED_BYTES).pipe(
    switchMap((sealed) => context.sealing.open(name, sealed)),
    switchMap((text) => take(name, text, context)),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      // Only content can be at fault for good: a key or disk that cannot be read may be back at the next start.
      if (error.code === "InvalidArgument") return setAside(name, error.message, context);
      telemetry.log.error("Cannot read a record for a boot without the API server", { path, error });
      return EMPTY;
    }),
  );
}

function take(name: string, text: string, context: RecordContext): Observable<KeptRecord> {
  const { table } = context;
  const bytes = utf8Length(text);
  if (table.bytes + bytes > MAX_RECORDS_BYTES) {
    return setAside(name, `the records have more than ${MAX_RECORDS_BYTES} bytes`, context);
  }
  const record = decodeRecord(name, text);
  if (!record.ok) return setAside(name, record.error.message, context);
  table.note(name, { value: undefined, digest: sha256(text), bytes });
  return of(record.value);
}

/** Moves the file of a record aside, with a line in the log. Never errors. */
export function setAside(
  name: string,
  reason: string,
  { files, telemetry: { log, metrics }, table, directory, aside }: RecordContext,
): Observable<never> {
  const path = `${directory}/${name}`;
  const copy$ = concat(
    files.makeDirectory(aside, DIRECTORY_MODE),
    files
      .readInside(directory, name, MAX_SEALED_BYTES)
      .pipe(switchMap((content) => files.replaceFile(`${aside}/${name}`, content, FILE_MODE))),
  );
  return defer(() => {
    metrics.count("rxlet_offline_record_failures_total", { action: "read" });
    log.error("A record for a boot without the API server cannot be used and is set aside", { path, aside, reason });
    return concat(
      files.list(aside).pipe(switchMap((there) => (there.length >= MAX_ASIDE ? EMPTY : copy$))),
      files.remove(path),
    );
  }).pipe(
    ignoreElements(),
    tap({ complete: () => table.note(name, undefined) }),
    failing((error) => log.error("Cannot set a record aside", { path, error })),
  );
}

/** Reports a failure and ends. */
const failing = <T>(report: (error: KubeletError) => void): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    report(toKubeletError(thrown));
    return EMPTY;
  });
