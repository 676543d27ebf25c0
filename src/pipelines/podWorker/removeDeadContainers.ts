/** Step of a sync: removes old attempts of containers and old sandboxes. A failure counts as one of the sync. */
import type { Observable } from "rxjs";
import { planPrune } from "../../core/container/pruneContainers.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { PodContext } from "../podContext.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";
import type { RoundOutput } from "./roundFailure.ts";

export function pruneContainers(context: PodContext, runtime: PodRuntimeStatus): Observable<RoundOutput> {
  const plan = planPrune(runtime, context.config.containerGc.maxPerContainer);
  return removeFromRuntime(context, plan.containers, plan.sandboxes);
}
