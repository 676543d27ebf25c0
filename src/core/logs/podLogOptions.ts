/**
 * Parses the query parameters of a log request into PodLogOptions, with upstream's order of checks and responses.
 * Upstream: getContainerLogs and ValidatePodLogOptions.
 */
import type { EpochMs } from "../ids.ts";
import { type LogInstant, parseLogInstant } from "./sinceBound.ts";

export type LogStream = "stdout" | "stderr";

/** PodLogOptions without the container, which is part of the path. */
export interface PodLogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly since: LogInstant | undefined;
  /** Number of last entries; undefined: all. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** `All` when not specified. */
  readonly stream: string;
}

/** A response in place of the log. */
export interface LogRefusal {
  readonly status: 400 | 404 | 422;
  readonly message: string;
}

/** The values of each query parameter, in order. */
export type Query = Readonly<Record<string, readonly string[]>>;

const UNDECODABLE: LogRefusal = { status: 400, message: '{"message": "Unable to decode query."}' };
const INVALID: LogRefusal = { status: 422, message: '{"message": "Invalid request."}' };
const MAX_INT64 = 2n ** 63n;

/** Returns the options, or the error response. */
export function readPodLogOptions(query: Query, now: EpochMs): PodLogOptions | LogRefusal {
  const [tail = ""] = query["tail"] ?? [];
  const tailLines = tail === "all" ? undefined : integer(tail === "" ? query["tailLines"] : [tail]);
  const limitBytes = integer(query["limitBytes"]);
  const sinceSeconds = integer(query["sinceSeconds"]);
  const sinceTime = instant(query["sinceTime"]);
  if (tailLines === null || limitBytes === null || sinceSeconds === null || sinceTime === null) return UNDECODABLE;
  const [stream = "All"] = query["stream"] ?? [];
  const isInvalid =
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (sinceSeconds !== undefined && (sinceSeconds < 1 || sinceTime !== undefined)) ||
    !["All", "Stdout", "Stderr"].includes(stream) ||
    (stream !== "All" && tailLines !== undefined);
  if (isInvalid) return INVALID;
  return {
    follow: isTrue(query["follow"]),
    previous: isTrue(query["previous"]),
    timestamps: isTrue(query["timestamps"]),
    since: sinceSeconds === undefined ? (sinceTime ?? undefined) : secondsBefore(now, sinceSeconds),
    tailLines,
    limitBytes,
    stream,
  };
}

/**
 * Returns the requested stream, undefined for both; or the error response when the feature gate for separate streams is
 * off.
 */
export function wantedStream(stream: string, splitStreams: boolean): LogStream | LogRefusal | undefined {
  if (stream === "All") return undefined;
  if (splitStreams) return stream === "Stdout" ? "stdout" : "stderr";
  const gate = "Please enable PodLogsQuerySplitStreams feature gate in kubelet";
  return { status: 400, message: `unable to return the given log stream: ${JSON.stringify(stream)}. ${gate}` };
}

/** Parses a boolean like the API machinery: any value but `0` and `false` is true. */
const isTrue = ([value]: readonly string[] = []): boolean =>
  value !== undefined && value !== "0" && value.toLowerCase() !== "false";

/** undefined: absent; null: not a 64-bit number. */
function integer([text]: readonly string[] = []): number | undefined | null {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text.replace("+", ""));
  return value >= -MAX_INT64 && value < MAX_INT64 ? Number(value) : null;
}

/** undefined: absent; null: not a time. An empty value and `null` are Go's zero time. */
function instant([text]: readonly string[] = []): LogInstant | undefined | null {
  if (text === undefined) return undefined;
  // Every entry is newer than Go's zero time and than 1970.
  if (text === "" || text === "null") return { seconds: 0, nanos: 0 };
  return parseLogInstant(text) ?? null;
}

function secondsBefore(now: EpochMs, seconds: number): LogInstant {
  const wholeMs = Math.floor(now);
  const nowSeconds = Math.floor(wholeMs / 1000);
  // No log is older than 1970.
  return { seconds: Math.max(0, nowSeconds - seconds), nanos: (wholeMs - nowSeconds * 1000) * 1_000_000 };
}
