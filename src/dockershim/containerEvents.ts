/**
 * GetContainerEvents from Docker's event stream: each event with the current status of the pod, in the order of Docker.
 * All subscribers share a stream of Docker. Where it breaks, they are disconnected: events are lost then, so a client
 * has to subscribe again and list. Bounds: `MAX_WAITING` events wait for their statuses, then subscribers are
 * disconnected as well; the backlog of each subscriber (see `grpcService.ts`).
 */
import { status } from "@grpc/grpc-js";
import { type ContainerEventResponse, ContainerEventResponse as Event, ContainerEventType } from "../gen/cri.ts";
import type { StreamSink } from "../grpcServer/grpcService.ts";
import { within } from "../criServer/within.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import { containerStatuses } from "./containerStatuses.ts";
import { CHANGES, containerEvent } from "./engine/events.ts";
import type { ContainerEvent } from "./engine/events.ts";
import { LABEL, SANDBOX } from "./mapping/names.ts";
import { sandboxStatusMessage } from "./mapping/sandboxMessages.ts";
import { networkOf } from "./sandboxCalls.ts";
import type { Shim } from "./shim.ts";

/** Distributes container events to subscribers. */
export interface ContainerEvents {
  /** Disconnects the subscriber at once while there is no stream of Docker. */
  subscribe(sink: StreamSink<ContainerEventResponse>): () => void;
  close(): void;
}

const MAX_WAITING = 1000;
/** An event has all labels of its container. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;
/** Docker answers as soon as it follows. */
const OPEN_MS = 10_000;
/**
 * The client that makes a container has the answer, and Docker is busy with what comes next: the statuses for such an event
 * are asked for when another event comes, or after this time.
 */
const START_WAITS_MS = 50;
/** Docker answers nothing about a container that it is starting. */
const STATUSES_MS = 2_000;
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;

const TYPES: Readonly<Record<ContainerEvent["change"], ContainerEventType>> = {
  create: ContainerEventType.CONTAINER_CREATED_EVENT,
  start: ContainerEventType.CONTAINER_STARTED_EVENT,
  die: ContainerEventType.CONTAINER_STOPPED_EVENT,
  destroy: ContainerEventType.CONTAINER_DELETED_EVENT,
};

/**
 * Follows Docker's events until `close`; resolves once the first stream is open, or has failed to. `onOpen` is
 * called each time that Docker is found, and events do not wait for what it begins.
 */
export async function followContainerEvents(shim: Shim, onOpen: () => void): Promise<ContainerEvents> {
  const sinks = new Set<StreamSink<ContainerEventResponse>>();
  const closed = new AbortController();
  let isOpen = false;
  const disconnect = (why: string): void => {
    const fault = new RpcFault(status.UNAVAILABLE, `docker: no events: ${why}; subscribe again and list`);
    const disconnected = [...sinks];
    sinks.clear();
    for (const sink of disconnected) sink.fail(fault);
  };
  const { promise: tried, resolve: trial } = Promise.withResolvers<void>();
  const followOnce = async (): Promise<void> => {
    const deliver = createDelivery(shim, sinks, disconnect);
    const lines = await openEvents(shim, closed.signal);
    isOpen = true;
    onOpen();
    trial();
    for await (const line of lines) {
      const event = containerEvent(line);
      if (event !== undefined && sinks.size > 0) deliver(event);
    }
  };
  const follow = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closed.signal.aborted) {
      const why = await followOnce().then(() => "Docker ended the stream", messageOf);
      if (isOpen) pauseMs = FIRST_PAUSE_MS;
      isOpen = false;
      disconnect(why);
      trial();
      await within(pauseMs, new Promise(() => undefined), closed.signal);
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
    }
  };
  follow().catch((thrown: unknown) => shim.report(`events: ${messageOf(thrown)}`));
  await tried;
  return {
    subscribe: (sink) => {
      if (isOpen) sinks.add(sink);
      else
        queueMicrotask(() => sink.fail(new RpcFault(status.UNAVAILABLE, "docker: no events: Docker does not answer")));
      return () => void sinks.delete(sink);
    },
    close: () => {
      closed.abort();
      isOpen = false;
      disconnect("the runtime ends");
    },
  };
}

const openEvents = ({ docker }: Shim, signal: AbortSignal): Promise<AsyncGenerator<unknown, void>> =>
  docker.engine.stream({
    method: "GET",
    path: "/events",
    query: { filters: JSON.stringify({ type: ["container"], event: CHANGES, label: [LABEL.type] }) },
    maxBytes: MAX_EVENT_BYTES,
    deadlineMs: OPEN_MS,
    signal,
  });

/** Completes events one after the other: their order is Docker's. */
function createDelivery(
  shim: Shim,
  sinks: ReadonlySet<StreamSink<ContainerEventResponse>>,
  disconnect: (why: string) => void,
): (event: ContainerEvent) => void {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  let another = Promise.withResolvers<void>();
  const messageFor = createMessages(shim);
  return (event) => {
    if (waiting >= MAX_WAITING) return disconnect(`${MAX_WAITING} events wait`);
    waiting += 1;
    another.resolve();
    another = Promise.withResolvers();
    const { promise: next } = another;
    const deliver = async (): Promise<void> => {
      if (event.change === "create" || event.change === "start") await within(START_WAITS_MS, next);
      waiting -= 1;
      if (sinks.size === 0) return;
      const message = await messageFor(event);
      for (const sink of sinks) sink.send(message);
    };
    // An event that fails must not take the later ones with it.
    last = last
      .then(deliver)
      .catch((thrown: unknown) => shim.report(`event of container ${event.id}: ${messageOf(thrown)}`));
  };
}

/**
 * An event whose statuses cannot be had, or not in time, is a hint all the same: those of other pods wait behind it. Bound: Docker
 * is asked once at a time about each sandbox, since the questions that it does not answer hold connections.
 */
function createMessages(shim: Shim): (event: ContainerEvent) => Promise<ContainerEventResponse> {
  const unanswered = new Set<string>();
  const statusesOf = async (sandboxId: string) => {
    if (unanswered.has(sandboxId)) return undefined;
    unanswered.add(sandboxId);
    const statuses = Promise.all([
      shim.docker.find("sandbox", sandboxId).catch(() => undefined),
      sandboxId === "" ? [] : containerStatuses(shim, sandboxId).catch(() => []),
    ]).finally(() => unanswered.delete(sandboxId));
    return (await within(STATUSES_MS, statuses)) ? statuses : undefined;
  };
  return async ({ id, change, at, attributes }) => {
    const sandboxId = attributes[LABEL.type] === SANDBOX ? id : (attributes[LABEL.sandboxId] ?? "");
    const [sandbox, containersStatuses] = (await statusesOf(sandboxId)) ?? [undefined, []];
    return Event.fromPartial({
      containerId: id,
      containerEventType: TYPES[change],
      createdAt: at > 0n ? at : wallClockNs(),
      ...(sandbox === undefined
        ? {}
        : { podSandboxStatus: sandboxStatusMessage(sandbox, await networkOf(shim, sandbox)) }),
      containersStatuses,
    });
  };
}
