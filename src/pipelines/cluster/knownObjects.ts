/** Objects of the cluster that pods refer to. Owner of the cells `runtimeClasses` and `services`. */
import { combineLatest, ignoreElements, type Observable, of, tap } from "rxjs";
import { serviceForEnv } from "../../core/container/serviceEnv.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../../state/nodeState.ts";

/** Keeps the RuntimeClasses of the API server and of manifests; a class of the server replaces its namesake. */
export const runtimeClasses = (
  { runtimeClasses$ }: Pick<KubeletPorts, "runtimeClasses$">,
  { configObjects, runtimeClasses: classes }: Pick<NodeView, "configObjects"> & Pick<NodeState, "runtimeClasses">,
): Observable<never> =>
  combineLatest([runtimeClasses$, configObjects.changes$]).pipe(
    tap(([ofServer, { runtimeClasses: ofManifests }]) => classes.set(new Map([...ofManifests, ...ofServer]))),
    ignoreElements(),
  );

/** Keeps the services that containers find in their environment. A standalone node has none. */
export const services = (
  { cluster }: Pick<KubeletPorts, "cluster">,
  { services: known }: Pick<NodeState, "services">,
): Observable<never> =>
  (cluster?.services$ ?? of([])).pipe(
    tap((found) => known.set(found.map(serviceForEnv))),
    ignoreElements(),
  );
