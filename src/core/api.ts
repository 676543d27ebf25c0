/**
 * Kubernetes API objects in their wire form: deeply readonly, instants as RFC 3339 strings. The generated client
 * types carry `Date`, which no JSON document has; nothing here needs the client at run time.
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

/** A generated API type as its JSON document. */
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

/** Metadata of a pod that passed a source: identity is complete. */
export type PodMeta = ObjectMeta & { readonly name: string; readonly namespace: string; readonly uid: string };

/** A pod that passed a source: identity and spec are present, defaults applied, spec validated. */
export interface Pod extends Omit<Wire<V1Pod>, "metadata" | "spec"> {
  readonly metadata: PodMeta;
  readonly spec: PodSpec;
}
