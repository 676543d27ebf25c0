/** The pods of this node as the API server last told them, mirror pods too. */
import type { V1Pod } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";
import type { ObjectsByKey } from "./reflection.ts";

/** A pod object as the server has it. */
export type ApiPod = Wire<V1Pod>;

export interface ToldPods {
  /** By `namespace/name`. */
  readonly byName: ObjectsByKey<ApiPod>;
  /** Everything up to this version is in it. */
  readonly version: string;
}

/** Nothing told yet. */
export const NO_TOLD_PODS: ToldPods = { byName: new Map(), version: "" };
