/**
 * Messages of the live view: what a running node sends to those who watch it, as server-sent events. Each event has the
 * name `kind` and one message as JSON. Instants are milliseconds since the epoch. All texts are bounded, and none has a
 * value of a Secret. Upstream: none.
 */

/** The pipeline: parts, and the cells and queues between them. Sent once per connection, first. */
export interface LiveGraph {
  readonly kind: "graph";
  readonly at: number;
  readonly node: string;
  readonly version: string;
  readonly parts: readonly LivePart[];
  readonly places: readonly LivePlace[];
}

/** A part of the kubelet, or an owner of cells that parts share. */
export interface LivePart {
  readonly name: string;
  /** Names of places. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** A cell holds the latest value; a queue holds values until a part takes them. */
export interface LivePlace {
  readonly name: string;
  readonly kind: "cell" | "queue";
}

/** New marbles, oldest first, at most MAX_BATCH. */
export interface LiveMarbles {
  readonly kind: "marbles";
  readonly marbles: readonly LiveMarble[];
  /** Marbles since the last message that were not sent, because there were too many or the watcher is slow. */
  readonly dropped: number;
}

/** A value that a part put into a place, or a step of a pod. */
export interface LiveMarble {
  /** Counts up from 1. */
  readonly id: number;
  /** When the value was written. For a step with `tookMs` this is its end, so that marbles are in order of `at`. */
  readonly at: number;
  /** Name of the place. */
  readonly place: string;
  /** Name of the part that wrote it; absent for a place without an owner. */
  readonly part?: string;
  /** UID of the pod that it concerns; absent for the node. */
  readonly pod?: string;
  /** The value in a few words, at most MAX_TEXT characters. */
  readonly text: string;
  /** More about the value, at most MAX_DETAIL characters. */
  readonly detail?: string;
  /** Duration of a step in milliseconds. */
  readonly tookMs?: number;
  readonly outcome?: "failed" | "cut off" | "warning";
  /** The marble that led to this one: the latest about the same pod in a place that `part` reads. */
  readonly cause?: number;
}

/** Throughput of each place since the last message of this kind, once a second. */
export interface LiveFlow {
  readonly kind: "flow";
  readonly at: number;
  readonly places: readonly LivePlaceFlow[];
}

export interface LivePlaceFlow {
  readonly name: string;
  /** Values since the last message. */
  readonly count: number;
  /** Values that wait in a queue. */
  readonly depth?: number;
  /** Values that a full queue has dropped since the start. */
  readonly dropped?: number;
}

/** All pods of the node, at most once a second and only when something changed. */
export interface LivePods {
  readonly kind: "pods";
  readonly at: number;
  readonly pods: readonly LivePod[];
}

export interface LivePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** `api`, `file` or `http`. */
  readonly source: string;
  /** State on this node: waiting, rejected, syncing, terminating, terminated or gone. */
  readonly state: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly containers: readonly LiveContainer[];
  readonly waits: readonly LiveWait[];
}

export interface LiveContainer {
  readonly name: string;
  readonly kind: "init" | "sidecar" | "main";
  readonly state: "waiting" | "running" | "terminated";
  readonly reason?: string;
  readonly ready: boolean;
  readonly restarts: number;
}

/** A condition that a pod waits for. */
export interface LiveWait {
  readonly what: string;
  readonly container?: string;
  readonly cause?: string;
  /** Pods, containers or images ahead, in order. */
  readonly ahead?: readonly string[];
  /** Since when, if known. */
  readonly since?: number;
  /** The next timer. */
  readonly next?: { readonly what: string; readonly at: number };
}

/** The node, every few seconds. */
export interface LiveNode {
  readonly kind: "node";
  readonly at: number;
  /** Problems of the runtime and failed health checks; empty when all is well. */
  readonly problems: readonly string[];
  /** Usage; fields are absent where they are not measured. */
  readonly usage: LiveUsage;
  /** Conditions of pressure that are true: `MemoryPressure`, `DiskPressure`, `PIDPressure`. */
  readonly pressures: readonly string[];
  readonly signals: readonly LiveSignal[];
  /** Pods in the order in which the node would evict them, as `namespace/name`. */
  readonly evictionOrder: readonly string[];
  /** Devices that pods have, by resource. */
  readonly devices: readonly { readonly resource: string; readonly used: number; readonly total: number }[];
  /** Latencies of calls to the runtime and to the API server. */
  readonly calls: readonly LiveCalls[];
  /** Absent when the runtime lists no images. */
  readonly garbage?: LiveGarbage;
  /** Sources of the node, those that are down first, at most MAX_SOURCES; absent without metrics of them. */
  readonly sources?: readonly LiveSourceHealth[];
}

/** Images and containers that no pod needs; the node removes them before it evicts a pod for a full disk. */
export interface LiveGarbage {
  readonly unusedImages: number;
  /** Images share layers, so that their removal may free less. */
  readonly unusedBytes: number;
  /** Images that are in use, pinned or too young. */
  readonly keptImages: number;
  readonly keptBytes: number;
  readonly deadContainers: number;
}

/** A source of the node: manifests, watches of the API server, events of the runtime. */
export interface LiveSourceHealth {
  readonly name: string;
  /** False while it is being reopened. */
  readonly isUp: boolean;
  /** Times that it was reopened since the start. */
  readonly restarts: number;
}

export interface LiveUsage {
  readonly cpuMillis?: number;
  readonly cpuCapacityMillis?: number;
  readonly memoryBytes?: number;
  readonly memoryCapacityBytes?: number;
  readonly diskBytes?: number;
  readonly diskCapacityBytes?: number;
}

/** An eviction signal. */
export interface LiveSignal {
  readonly name: string;
  readonly available: string;
  readonly threshold: string;
  readonly isMet: boolean;
}

/** Calls of one kind since the start, and the latencies of those since the last message; absent without any. */
export interface LiveCalls {
  readonly target: "runtime" | "api";
  readonly name: string;
  readonly count: number;
  readonly failed: number;
  readonly meanMs?: number;
  /** The slowest took at most this long; absent beyond the last bucket of the histogram. */
  readonly maxMs?: number;
}

/** A message of the live view. */
export type LiveMessage = LiveGraph | LiveMarbles | LiveFlow | LivePods | LiveNode;

/** Bounds. */
export const MAX_BATCH = 500;
export const MAX_TEXT = 120;
export const MAX_DETAIL = 2_000;
/** Pods in a message; a node has at most some hundred. */
export const MAX_PODS = 2_000;
export const MAX_SOURCES = 64;

/** Paths of the live view on a server that has it. */
export const LIVE_PATHS = {
  /** The page; its script and style lie below. */
  page: "/live/",
  /** The stream of messages. `Last-Event-ID` resumes after that marble as far as it is still known. */
  stream: "/live/stream",
  /** Timeline of a pod, by namespace and name: JSON as `rxlet explain --output=json` has it. */
  timeline: (namespace: string, name: string) =>
    `/debug/rxlet/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/timeline`,
  /** The last lines of a container's log as text: `GET`. */
  logs: (namespace: string, name: string, container: string) =>
    `/live/logs/${[namespace, name, container].map(encodeURIComponent).join("/")}`,
  /** Resets the backoffs of a pod: `POST` with the header LIVE_HEADER, which pages of other sites cannot send. */
  retry: (namespace: string, name: string) => `/live/retry/${[namespace, name].map(encodeURIComponent).join("/")}`,
} as const;

export const LIVE_HEADER = "x-rxlet-live";
