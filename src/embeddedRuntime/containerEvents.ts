/**
 * GetContainerEvents: sends each event with the current pod status to all subscribers. Events are not stored, so a
 * client has to list after it subscribes. Bound: the backlog of each stream (see `grpcService.ts`).
 */
import { type ContainerEventResponse, type ContainerEventType, ContainerEventResponse as Event } from "../gen/cri.ts";
import { containerStatusMessage, sandboxStatusMessage } from "./criMessages.ts";
import type { StreamSink } from "../grpcServer/grpcService.ts";
import type { Registry } from "./registry.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

/** Distributes container events to subscribers. */
export interface ContainerEvents {
  subscribe(sink: StreamSink<ContainerEventResponse>): () => void;
  /** Sends an event. `id` is a container or the sandbox itself, which runtimes report like a container. */
  emit(id: string, type: ContainerEventType, sandboxId: string): void;
}

/** Creates the events for the records in `registry`. */
export function createContainerEvents(registry: Registry): ContainerEvents {
  const sinks = new Set<StreamSink<ContainerEventResponse>>();
  return {
    subscribe: (sink) => {
      sinks.add(sink);
      return () => void sinks.delete(sink);
    },
    emit: (id, type, sandboxId) => {
      if (sinks.size === 0) return;
      const sandbox = registry.sandboxes.get(sandboxId);
      const event = Event.fromPartial({
        containerId: id,
        containerEventType: type,
        createdAt: wallClockNs(),
        ...(sandbox === undefined ? {} : { podSandboxStatus: sandboxStatusMessage(sandbox) }),
        containersStatuses: registry.containersOf(sandboxId).map(({ record }) => containerStatusMessage(record)),
      });
      for (const sink of sinks) sink.send(event);
    },
  };
}
