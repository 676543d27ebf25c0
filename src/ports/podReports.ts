/** Reports about pods to the API server that must not overtake the kubelet's own records on disk. */
import type { Observable } from "rxjs";
import type { PodUid } from "../core/ids.ts";

export interface PodReports {
  /** Completes when the pod's status may be sent, or its object be deleted: at once, or within 5 s. Never errors. */
  before(uid: PodUid): Observable<never>;
}
