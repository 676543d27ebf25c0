/** The API pods of this node as last received from the API server, mirror pods included. */
import type { V1Pod } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";
import type { ObjectsByKey } from "./reflection.ts";

/** A pod object as the server has it. */
export type ApiPod = Wire<V1Pod>;

/** A snapshot of the API pods. */
export interface ApiPodObjects {
  /** Pods by `namespace/name`. */
  readonly byName: ObjectsByKey<ApiPod>;
  /** All changes up to this resource version are included. */
  readonly version: string;
}

/** The state before the first list. */
export const NO_API_POD_OBJECTS: ApiPodObjects = { byName: new Map(), version: "" };
