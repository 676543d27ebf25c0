/** Applies a pod's annotations about its backoffs: at the start of each sync; problems are reported once. */
import { EMPTY, from, type Observable } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { type BackoffPolicy, NO_BACKOFFS } from "../../core/backoff.ts";
import { RETRY_AT, steerCrashLoop } from "../../core/pod/crashLoopSteering.ts";
import { sameValue } from "../../core/sameValue.ts";
import { type PodContext, podEvent, podFields } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";

/** The crash-loop policy in force for the pod. */
export const steeredPolicy = ({ config }: PodContext, { metadata }: Pod): BackoffPolicy =>
  steerCrashLoop(metadata.annotations, config.containerBackoff).policy;

/** Forgets the pod's backoffs at once on a new request, and reports problems of its annotations. */
export function steer(context: PodContext, pod: Pod): Observable<PodOutput> {
  const outputs = [...reportProblems(context, pod), ...retryIfAsked(context, pod)];
  return outputs.length === 0 ? EMPTY : from(outputs);
}

function reportProblems(context: PodContext, { metadata }: Pod): readonly PodOutput[] {
  const { memory, config, ports } = context;
  const { problems } = steerCrashLoop(metadata.annotations, config.containerBackoff);
  if (sameValue(problems, memory.crashLoop.reportedProblems)) return [];
  memory.crashLoop.reportedProblems = problems;
  return problems.map((problem) => {
    ports.telemetry.log.warn("Annotation of a pod cannot be used", { ...podFields(context), problem });
    return podEvent(context, "Warning", "InvalidAnnotation", problem);
  });
}

function retryIfAsked(context: PodContext, { metadata }: Pod): readonly PodOutput[] {
  const { memory, ports, images, identity } = context;
  const asked = metadata.annotations?.[RETRY_AT];
  const isNew = memory.rounds.synced !== undefined && asked !== undefined && asked !== memory.crashLoop.retryRequest;
  memory.crashLoop.retryRequest = asked;
  if (!isNew) return [];
  memory.crashLoop.backoffs = NO_BACKOFFS;
  memory.rounds.done = undefined;
  images.forget(identity.uid);
  ports.telemetry.log.info("Retrying a pod at once", { ...podFields(context), asked });
  return [podEvent(context, "Normal", "RetryNow", `Backoffs were reset by ${RETRY_AT}`)];
}
