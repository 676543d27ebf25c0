/** ConfigMaps and Secrets of the API server, one by one, kept for the pods that name them. */
import type { Observable } from "rxjs";
import type { ConfigLookup } from "../core/configObjects.ts";
import type { ConfigReference } from "../core/pod/podReferences.ts";
import type { Call } from "./call.ts";

/** An object by what identifies it. */
export interface ConfigObjectRef extends ConfigReference {
  readonly namespace: string;
}

export interface ObjectCache {
  /**
   * Keeps the object at hand while subscribed; all who follow one share it. Emits what is known of it, again whenever
   * that changed. Never errors.
   */
  follow(ref: ConfigObjectRef): Observable<ConfigLookup>;
  /** What the object is now; waits for it, within a bound. Only for objects somebody follows. Never errors. */
  get(ref: ConfigObjectRef): Call<ConfigLookup>;
}
