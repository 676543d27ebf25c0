/** Step after a sync: old attempts and old sandboxes go. A failure is one of the sync's. */
import type { Observable } from "rxjs";
import { planPrune } from "../../core/container/pruneContainers.ts";
import type { KubeletError } from "../../core/errors.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { PodContext } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";

export function pruneContainers(
  context: PodContext,
  runtime: PodRuntimeStatus,
  errors: KubeletError[],
): Observable<PodOutput> {
  const plan = planPrune(runtime);
  return removeFromRuntime(context, plan.containers, plan.sandboxes, errors);
}
