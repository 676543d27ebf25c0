/** The RuntimeClasses of the API server; a node of no cluster has those of its manifests alone. */
import { distinctUntilChanged, filter, map, type Observable, of } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { reflect } from "../sources/reflector.ts";
import { usesStreams } from "./podSources.ts";
import { supervised } from "./supervised.ts";

/** All of them, whenever one changed; nothing before the server told them once. Never errors. */
export function runtimeClasses(
  api: ApiLanes | undefined,
  options: KubeletOptions,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
): Observable<RuntimeClasses> {
  if (api === undefined) return of(new Map());
  const { clock, rng } = ports;
  const classes$ = reflect({
    api: api.objects,
    resource: "runtimeclasses",
    clock,
    rng,
    usesStreams: usesStreams(options),
  });
  return supervised("runtimeClasses", classes$, ports).pipe(
    map(({ objects }) => objects),
    filter((objects) => objects !== undefined),
    distinctUntilChanged(),
  );
}
