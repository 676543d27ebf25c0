/** ConfigMaps and Secrets of the API server, read one by one and kept while pods reference them. */
import type { Observable } from "rxjs";
import type { ConfigLookup } from "../core/configObjects.ts";
import type { ConfigReference } from "../core/pod/podReferences.ts";
import type { Call } from "./call.ts";

/** Identifies a ConfigMap or Secret. */
export interface ConfigObjectRef extends ConfigReference {
  readonly namespace: string;
}

export interface ObjectCache {
  /**
   * Keeps the object cached while subscribed; all subscribers of one object share it. Emits the object as known, and
   * again on every change. Never errors.
   */
  follow(ref: ConfigObjectRef): Observable<ConfigLookup>;
  /**
   * Returns the object's current state, waiting for it up to a bound. Requires a subscriber of `follow`. Never errors.
   */
  get(ref: ConfigObjectRef): Call<ConfigLookup>;
}
