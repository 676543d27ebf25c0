/** What the API server says beside pods, kept up to date. Each neither errors nor completes. */
import type { Observable } from "rxjs";
import type { ApiObjects } from "../core/api/apiResources.ts";
import type { Node } from "../core/api.ts";

export interface ClusterObjects {
  /** This node, undefined when there is none of its name; nothing before the server has told once. */
  readonly node$: Observable<Node | undefined>;
  readonly services$: Observable<readonly ApiObjects["services"][]>;
}
