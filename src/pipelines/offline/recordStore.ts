/**
 * The records on disk: read once at the start, then written and removed one by one. Owner of the files below
 * `offline/records` and of the table of them. Bounds: those of core/offline/keptRecord.ts.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, switchMap, tap } from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  encodeRecord,
  type KeptRecord,
  MAX_RECORD_BYTES,
  MAX_RECORDS,
  MAX_RECORDS_BYTES,
} from "../../core/offline/keptRecord.ts";
import { offlineAsideDir, offlineRecordsDir } from "../../core/paths.ts";
import { sha256 } from "../../core/sha256.ts";
import { utf8Length } from "../../core/utf8Length.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Sealing } from "../../ports/sealing.ts";
import { DIRECTORY_MODE, FILE_MODE, readRecords, type RecordContext, setAside } from "./readRecords.ts";
import { createRecordTable } from "./recordTable.ts";

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

/** Creates the store; nothing is read before `load`. */
export function createRecordStore(
  { files, telemetry }: Pick<KubeletPorts, "files" | "telemetry">,
  sealing: Sealing,
  { directories }: Pick<KubeletConfig, "directories">,
): RecordStore {
  const table = createRecordTable(telemetry.metrics);
  const directory = offlineRecordsDir(directories);
  const context = { files, telemetry, sealing, table, directory, aside: offlineAsideDir(directories) };
  const { entries, note } = table;
  return {
    changes$: table.changes$,
    load: () => readRecords(context),
    setAside: (name, reason) => setAside(name, reason, context),
    names: () => [...entries.keys()],
    has(name, value) {
      const entry = entries.get(name);
      return entry && entry.value === value;
    },
    remove: (name) =>
      defer(() => (entries.has(name) ? files.remove(`${directory}/${name}`) : EMPTY)).pipe(
        ignoreElements(),
        tap({ complete: () => note(name, undefined) }),
      ),
    write: (name, record) =>
      defer(() => write(name, record, context)).pipe(
        catchError((thrown: unknown) => {
          telemetry.metrics.count("rxlet_offline_record_failures_total", { action: "write" });
          throw toKubeletError(thrown);
        }),
      ),
  };
}

function write(
  name: string,
  record: KeptRecord,
  { files, sealing, table, directory }: RecordContext,
): Observable<never> {
  const text = encodeRecord(record);
  const digest = sha256(text);
  const known = table.entries.get(name);
  const bytes = utf8Length(text);
  const entry = { value: record.value, digest, bytes };
  if (known?.digest === digest) {
    table.note(name, entry);
    return EMPTY;
  }
  const count = table.entries.size + (known === undefined ? 1 : 0);
  const fault = sizeFault(bytes, table.bytes - (known?.bytes ?? 0), count);
  if (fault !== undefined) throw fault;
  table.note(name, { value: undefined, digest: "", bytes });
  const replace = (sealed: string): Observable<void> => files.replaceFile(`${directory}/${name}`, sealed, FILE_MODE);
  return sealing.seal(name, text).pipe(
    switchMap((sealed) => concat(files.makeDirectory(directory, DIRECTORY_MODE), replace(sealed))),
    ignoreElements(),
    tap({ complete: () => table.note(name, entry) }),
  );
}

function sizeFault(size: number, others: number, count: number): KubeletError | undefined {
  const refuse = (why: string): KubeletError => kubeletError("ResourceExhausted", why);
  if (size > MAX_RECORD_BYTES) return refuse(`the record has ${size} bytes; the limit is ${MAX_RECORD_BYTES}`);
  if (size + others > MAX_RECORDS_BYTES)
    return refuse(`all records together are limited to ${MAX_RECORDS_BYTES} bytes`);
  return count > MAX_RECORDS ? refuse(`there are ${MAX_RECORDS} records already`) : undefined;
}
