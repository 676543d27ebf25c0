/** containerd's own event service, on the same socket as its CRI: for releases whose CRI has no event stream. */
import type { EventsDefinition } from "../gen/containerd.ts";
import type { ServicePort } from "./cri.ts";

/** `containerd.services.events.v1.Events`, subscribing only. The stream is endless. */
export type ContainerdEventService = ServicePort<EventsDefinition["methods"]>;
