/**
 * Kubernetes API objects in their wire form: deeply readonly, timestamps as RFC 3339 strings. The generated client's
 * types use `Date`, which JSON does not have; this module needs the client for its types only.
 */
import type {
  V1Container,
  V1ContainerStatus,
  V1Node,
  V1ObjectMeta,
  V1Pod,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
} from "@kubernetes/client-node";

/** A generated API type in its JSON form. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Wire<T[Key]> }
      : T;

export type PodSpec = Wire<V1PodSpec>;
export type PodStatus = Wire<V1PodStatus>;
export type PodCondition = Wire<V1PodCondition>;
export type Container = Wire<V1Container>;
export type ApiContainerStatus = Wire<V1ContainerStatus>;
export type ObjectMeta = Wire<V1ObjectMeta>;
export type Node = Wire<V1Node>;

/** Metadata of a pod that a source has validated: identity is complete. */
export type PodMeta = ObjectMeta & { readonly name: string; readonly namespace: string; readonly uid: string };

/** A pod that a source has validated: identity and spec are present, defaults are applied. */
export interface Pod extends Omit<Wire<V1Pod>, "metadata" | "spec"> {
  readonly metadata: PodMeta;
  readonly spec: PodSpec;
}
