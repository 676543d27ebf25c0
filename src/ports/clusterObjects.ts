/** What the API server says beside pods, kept up to date. Each neither errors nor completes. */
import type { Observable } from "rxjs";
import type { ApiObjects } from "../core/api/apiResources.ts";
import type { Node } from "../core/api.ts";
import type { CsiDriver } from "../core/volume/csiVolume.ts";

export interface ClusterObjects {
  /** This node, undefined when there is none of its name; nothing before the server has told once. */
  readonly node$: Observable<Node | undefined>;
  readonly services$: Observable<readonly ApiObjects["services"][]>;
  /** By name. Asked for while somebody follows them, which is seldom. */
  readonly csiDrivers$: Observable<ReadonlyMap<string, CsiDriver>>;
}
