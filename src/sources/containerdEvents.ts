/**
 * Hints from containerd's own event service, for releases whose CRI has no event stream (1.6). A hint says "look at
 * this container again", never what state it is in. Owns nothing; bound: one open stream per subscription.
 * Upstream has no counterpart: it relists every second there.
 */
import { map, filter } from "rxjs";
import type { Observable } from "rxjs";
import { containerId, epochMs } from "../core/ids.ts";
import type { ContainerId, EpochMs } from "../core/ids.ts";
import { ContainerCreate, ContainerDelete, TaskDelete, TaskExit, TaskOOM, TaskStart } from "../gen/containerd.ts";
import type { Envelope } from "../gen/containerd.ts";
import type { ContainerdEventService } from "../ports/containerd.ts";

/**
 * Kinds of events: `create` and `delete` of the record, `start` and `exit` of the process, `oom` in its cgroup.
 * Each end gives two `exit` hints, the second when containerd has cleaned up after the process. CRI shows the exit only
 * 10 to 20 ms after the second hint and reports no event then, so its receiver has to inspect more than once.
 */
export type ContainerdHintKind = "create" | "start" | "exit" | "oom" | "delete";

export interface ContainerdHint {
  readonly kind: ContainerdHintKind;
  /** A container, or a sandbox: to containerd both are containers. */
  readonly containerId: ContainerId;
  /** When containerd published it, on its wall clock: for measuring delays, not for ordering. */
  readonly timestamp: EpochMs;
}

/** The containerd namespace of CRI objects. */
const CRI_NAMESPACE = "k8s.io";

interface TopicReader {
  readonly kind: ContainerdHintKind;
  /** Returns the container; undefined for the event of an exec process. */
  readonly container: (payload: Uint8Array) => string | undefined;
}

const TOPICS: ReadonlyMap<string, TopicReader> = new Map<string, TopicReader>([
  ["/containers/create", { kind: "create", container: (payload) => ContainerCreate.decode(payload).id }],
  ["/containers/delete", { kind: "delete", container: (payload) => ContainerDelete.decode(payload).id }],
  ["/tasks/start", { kind: "start", container: (payload) => TaskStart.decode(payload).containerId }],
  ["/tasks/oom", { kind: "oom", container: (payload) => TaskOOM.decode(payload).containerId }],
  ["/tasks/exit", { kind: "exit", container: (payload) => unlessExec(TaskExit.decode(payload)) }],
  ["/tasks/delete", { kind: "exit", container: (payload) => unlessExec(TaskDelete.decode(payload)) }],
]);

const unlessExec = (event: { readonly containerId: string; readonly id: string }): string | undefined =>
  event.id === "" || event.id === event.containerId ? event.containerId : undefined;

/** Filters of the subscription, so that image and snapshot events and other namespaces never wake this process. */
const FILTERS: readonly string[] = [...TOPICS.keys()].map((topic) => `namespace==${CRI_NAMESPACE},topic=="${topic}"`);

/**
 * Hints as containerd publishes them.
 *
 *     events    -a-----x-(exec)--x-----d-
 *     hints     -s-----e---------e-----d-
 *
 * Cancels: the stream, on unsubscribe. Errors: KubeletError when the stream breaks or the runtime is not containerd
 * (Unimplemented); an undecodable event is skipped, the relist behind the hints covers it. Bound: nothing is buffered.
 */
export function containerdEvents(service: ContainerdEventService): Observable<ContainerdHint> {
  const open = service.subscribe;
  return open({ filters: FILTERS }).pipe(
    map(hintOf),
    filter((hint) => hint !== undefined),
  );
}

/** Returns the hint of one envelope, if any. */
export function hintOf(envelope: Envelope): ContainerdHint | undefined {
  const reader = TOPICS.get(envelope.topic);
  if (reader === undefined || envelope.event === undefined || envelope.namespace !== CRI_NAMESPACE) return undefined;
  const id = containerOf(reader, envelope.event.value);
  if (id === undefined || id === "") return undefined;
  const { seconds = 0n, nanos = 0 } = envelope.timestamp ?? {};
  const timestamp = epochMs(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
  return { kind: reader.kind, containerId: containerId(id), timestamp };
}

function containerOf(reader: TopicReader, payload: Uint8Array): string | undefined {
  try {
    return reader.container(payload);
  } catch {
    return undefined;
  }
}
