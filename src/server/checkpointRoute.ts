/**
 * `/checkpoint/{namespace}/{pod}/{container}`: the runtime writes a checkpoint archive of a container.
 * Upstream: checkpoint in pkg/kubelet/server.
 */
import type { Context, Hono } from "hono";
import { concat, defer, ignoreElements, lastValueFrom } from "rxjs";
import type { Pod } from "../core/api.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { fullNameOf } from "../core/ids.ts";
import { valueOf } from "../core/result.ts";
import { podOf, runningContainer, terminalOf } from "../core/server/podTargets.ts";
import { formatInstant } from "../core/time/civilTime.ts";
import { CheckpointContainerRequest } from "../gen/cri.ts";
import type { CallOptions } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { Files } from "../ports/files.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { allowLongAnswer } from "./longAnswer.ts";
import { serviceRoute } from "./onlyMethods.ts";
import { podPathOf } from "./podPaths.ts";
import { tracedCall } from "./traceRequests.ts";

export interface CheckpointRouteOptions {
  readonly queries: Pick<KubeletQueries, "pods" | "runtimePods">;
  readonly runtime: Pick<RuntimeService, "checkpointContainer">;
  /** Directory for the archives. */
  readonly directory: string;
  readonly files: Pick<Files, "makeDirectory">;
  readonly clock: Pick<Clock, "wallTime">;
}

/** Adds the checkpoint route. */
export function addCheckpointRoute(app: Hono, options: CheckpointRouteOptions): void {
  serviceRoute(app, ["POST"], "/checkpoint/:namespace/:pod/:container", (context) => checkpoint(context, options));
}

async function checkpoint(context: Context, options: CheckpointRouteOptions): Promise<Response> {
  const target = podPathOf(context);
  const { namespace, pod: name, container = "" } = target;
  const pod = podOf(options.queries.pods(), target);
  if (!pod.ok) return context.body(pod.error.message, 404);
  if (terminalOf(pod.value, container) === undefined) return context.body(`container ${container} does not exist`, 404);
  const timeout = context.req.queries("timeout")?.at(-1) ?? "0";
  if (!/^-?\d{1,18}$/.test(timeout)) return context.body("cannot parse value of timeout parameter", 404);
  allowLongAnswer(context);
  try {
    const location = await written(options, pod.value, container, BigInt(timeout), tracedCall(context));
    return context.body(JSON.stringify({ items: [location] }), 200, { "content-type": "application/json" });
  } catch (thrown) {
    const why = toKubeletError(thrown).message;
    return context.body(`checkpointing of ${namespace}/${name}/${container} failed (${why})`, 500);
  }
}

async function written(
  { queries, runtime, directory, files, clock }: CheckpointRouteOptions,
  pod: Pod,
  container: string,
  timeout: bigint,
  call: CallOptions,
): Promise<string> {
  const { id } = valueOf(runningContainer(queries.runtimePods(), pod, container, `container ${container} not found`));
  if (timeout < 0n) throw kubeletError("InvalidArgument", "CheckpointContainer requires the timeout value to be > 0");
  const fullName = fullNameOf(pod.metadata);
  const location = `${directory}/checkpoint-${fullName}-${container}-${formatInstant(clock.wallTime())}.tar`;
  const request = CheckpointContainerRequest.create({ containerId: id, location, timeout });
  await lastValueFrom(
    concat(
      files.makeDirectory(directory, 0o700).pipe(ignoreElements()),
      defer(() => runtime.checkpointContainer(request, call)),
    ),
  );
  return location;
}
