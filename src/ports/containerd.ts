/** containerd's own event service, on the same socket as its CRI. Used for releases whose CRI has no event stream. */
import type { EventsDefinition } from "../gen/containerd.ts";
import type { ServicePort } from "./cri.ts";

/** `containerd.services.events.v1.Events`, Subscribe only. The stream never ends. */
export type ContainerdEventService = ServicePort<EventsDefinition["methods"]>;
