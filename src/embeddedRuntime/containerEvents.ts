/**
 * GetContainerEvents: tells every subscriber what happened, with the state of the pod as of then. Nothing is kept for
 * later: who subscribes lists first. Bound: the backlog of each stream (see `grpcService.ts`).
 */
import { type ContainerEventResponse, type ContainerEventType, ContainerEventResponse as Event } from "../gen/cri.ts";
import { containerStatusMessage, sandboxStatusMessage } from "./criMessages.ts";
import type { StreamSink } from "./grpcService.ts";
import type { Registry } from "./registry.ts";
import { wallClockNs } from "./wallClockNs.ts";

/** Where events come from and go to. */
export interface ContainerEvents {
  subscribe(sink: StreamSink<ContainerEventResponse>): () => void;
  /** `id` is a container, or the sandbox itself, which runtimes report like a container. */
  emit(id: string, type: ContainerEventType, sandboxId: string): void;
}

/** Events about the content of `registry`. */
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
