/** Log files of the node below one directory, and its journal. */
import type { EpochMs } from "../core/ids.ts";
import type { NodeLogQuery } from "../core/server/nodeLogQuery.ts";

/** A byte stream with back-pressure; the reader reads to the end or cancels. */
export type LogBytes = ReadableStream<Uint8Array>;

/** Content of a path below the directory. */
export type NodeLogEntry = { readonly modifiedAt: EpochMs } & (
  | { readonly kind: "directory" /** Sorted; directories end with a slash. */; readonly names: readonly string[] }
  | { readonly kind: "file"; readonly bytes: LogBytes }
);

export interface NodeLogs {
  /** Opens a file or directory. Errors: NotFound, also for a path that leads outside the directory in any way. */
  open(path: string): Promise<NodeLogEntry>;
  /** Returns the journal's output, or the log files of services that do not use the journal. Ends after 30 s. */
  services(query: Extract<NodeLogQuery, { readonly kind: "services" }>): Promise<LogBytes>;
}
