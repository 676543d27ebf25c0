/** API objects other than pods, kept up to date. These streams neither error nor complete. */
import type { Observable } from "rxjs";
import type { ApiObjects } from "../core/api/apiResources.ts";
import type { Node } from "../core/api.ts";
import type { CsiDriver } from "../core/volume/csiVolume.ts";

export interface ClusterObjects {
  /**
   * The Node of this kubelet; undefined when the API server has no node of its name. Emits first after the first answer of the API
   * server.
   */
  readonly node$: Observable<Node | undefined>;
  readonly services$: Observable<readonly ApiObjects["services"][]>;
  /** CSIDrivers by name. Requested from the API server only while subscribed, which is rare. */
  readonly csiDrivers$: Observable<ReadonlyMap<string, CsiDriver>>;
}
