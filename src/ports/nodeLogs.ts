/** Log files of the node, below one directory, and its journal. */
import type { EpochMs } from "../core/ids.ts";
import type { NodeLogQuery } from "../core/server/nodeLogQuery.ts";

/** Bytes as they are read; whoever takes them reads on or cancels. */
export type LogBytes = ReadableStream<Uint8Array>;

/** What a path below the directory is. */
export type NodeLogEntry = { readonly modifiedAt: EpochMs } & (
  | { readonly kind: "directory" /** Sorted; directories end with a slash. */; readonly names: readonly string[] }
  | { readonly kind: "file"; readonly bytes: LogBytes }
);

export interface NodeLogs {
  /** Errors: NotFound, also for what lies outside the directory, whatever leads there. */
  open(path: string): Promise<NodeLogEntry>;
  /** Output of the journal, or of the files of services that do not use it. Ends after 30 s. */
  services(query: Extract<NodeLogQuery, { readonly kind: "services" }>): Promise<LogBytes>;
}
