/** Branded identifiers and times: a value of one kind cannot be passed as another. */
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `metadata.uid` of a pod. For static pods, the hash of manifest and source. */
export type PodUid = Brand<string, "PodUid">;
/** Container ID as the runtime reports it (no `containerd://` prefix). */
export type ContainerId = Brand<string, "ContainerId">;
/** Pod sandbox ID as the runtime reports it. */
export type SandboxId = Brand<string, "SandboxId">;
/** `name_namespace`: at most one pod per full name of a static pod runs at a time. */
export type PodFullName = Brand<string, "PodFullName">;
/** Milliseconds on a clock that only moves forward; its origin is arbitrary. */
export type MonotonicMs = Brand<number, "MonotonicMs">;
/** Milliseconds since the Unix epoch on the wall clock, which may step. */
export type EpochMs = Brand<number, "EpochMs">;

export const podUid = (value: string): PodUid => value as PodUid;
export const containerId = (value: string): ContainerId => value as ContainerId;
export const sandboxId = (value: string): SandboxId => value as SandboxId;
export const monotonicMs = (value: number): MonotonicMs => value as MonotonicMs;
export const epochMs = (value: number): EpochMs => value as EpochMs;

/** Returns the full name of a pod. */
export const podFullName = (name: string, namespace: string): PodFullName => `${name}_${namespace}` as PodFullName;

/** Returns the full name of a pod, given its metadata or identity. */
export const fullNameOf = ({ name, namespace }: { readonly name: string; readonly namespace: string }): PodFullName =>
  podFullName(name, namespace);
