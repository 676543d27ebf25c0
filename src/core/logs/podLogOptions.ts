/**
 * What a request for a container's log asks for: PodLogOptions out of query parameters, checked in upstream's order with
 * upstream's answers. Upstream: getContainerLogs and ValidatePodLogOptions.
 */
import type { EpochMs } from "../ids.ts";
import { type LogInstant, parseLogInstant } from "./sinceBound.ts";

export type LogStream = "stdout" | "stderr";

/** PodLogOptions, of which the container is part of the path. */
export interface PodLogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly since: LogInstant | undefined;
  /** Last entries of the log; undefined: all of them. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** `All` where nothing else was asked for. */
  readonly stream: string;
}

/** An answer other than the log. */
export interface LogRefusal {
  readonly status: 400 | 404 | 422;
  readonly message: string;
}

/** The values of each query parameter, in their order. */
export type Query = Readonly<Record<string, readonly string[]>>;

const UNDECODABLE: LogRefusal = { status: 400, message: '{"message": "Unable to decode query."}' };
const INVALID: LogRefusal = { status: 422, message: '{"message": "Invalid request."}' };
const MAX_INT64 = 2n ** 63n;

/** The options, or why there are none. */
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

/** Which stream is wanted, undefined for both; or that the feature gate which tells them apart is off. */
export function wantedStream(stream: string, splitStreams: boolean): LogStream | LogRefusal | undefined {
  if (stream === "All") return undefined;
  if (splitStreams) return stream === "Stdout" ? "stdout" : "stderr";
  const gate = "Please enable PodLogsQuerySplitStreams feature gate in kubelet";
  return { status: 400, message: `unable to return the given log stream: ${JSON.stringify(stream)}. ${gate}` };
}

/** As the API machinery reads a boolean: whatever is there and not `0` or `false`. */
const isTrue = ([value]: readonly string[] = []): boolean =>
  value !== undefined && value !== "0" && value.toLowerCase() !== "false";

/** undefined: not there; null: not a number of 64 bits. */
function integer([text]: readonly string[] = []): number | undefined | null {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text.replace("+", ""));
  return value >= -MAX_INT64 && value < MAX_INT64 ? Number(value) : null;
}

/** undefined: not there; null: not a time. Nothing and `null` are Go's zero time. */
function instant([text]: readonly string[] = []): LogInstant | undefined | null {
  if (text === undefined) return undefined;
  // Nothing is older than the time zero, whichever is meant by it.
  if (text === "" || text === "null") return { seconds: 0, nanos: 0 };
  return parseLogInstant(text) ?? null;
}

function secondsBefore(now: EpochMs, seconds: number): LogInstant {
  const wholeMs = Math.floor(now);
  const nowSeconds = Math.floor(wholeMs / 1000);
  // No log is older than 1970.
  return { seconds: Math.max(0, nowSeconds - seconds), nanos: (wholeMs - nowSeconds * 1000) * 1_000_000 };
}
