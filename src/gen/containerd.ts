/** containerd's own event service: the one import path of its generated messages and service definition. */
export * from "./proto/containerd/events.ts";
export * from "./proto/containerd/payloads.ts";
