/** Pods API v1alpha1 and the messages of pods: the one import path of their generated code. */
export { Pod as PodMessage } from "./proto/core/pod.ts";
export { EventType, PodsDefinition, type WatchPodsEvent } from "./proto/podsapi/v1alpha1.ts";
