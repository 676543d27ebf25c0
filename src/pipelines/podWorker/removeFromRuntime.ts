/** Removes dead containers, with or without their logs, and sandboxes. Idempotent: a missing one is no failure. */
import { concat, defer, EMPTY, type Observable, of, switchMap } from "rxjs";
import { withReason } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { RuntimeContainer, RuntimeSandbox } from "../../core/runtime/podRuntimeStatus.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { effect, inspect, type PodContext } from "../podContext.ts";
import { removeContainerLogs } from "../removeContainerLogs.ts";
import { failed, type RoundOutput } from "./roundFailure.ts";

/** Removes containers, then sandboxes. Kept logs preserve the restart count. */
export function removeFromRuntime(
  context: PodContext,
  containers: readonly RuntimeContainer[],
  sandboxes: readonly RuntimeSandbox[],
  { keepLogs = false }: { readonly keepLogs?: boolean } = {},
): Observable<RoundOutput> {
  if (containers.length + sandboxes.length === 0) return EMPTY;
  const { runtime } = context.ports;
  const removeContainer = (container: RuntimeContainer): Observable<RoundOutput> =>
    effect(context, { name: "RemoveContainer", container: container.name }, () =>
      runtime.removeContainer({ containerId: container.id }),
    ).pipe(
      switchMap((result) =>
        concat(
          failureOf(result),
          keepLogs ? EMPTY : removeContainerLogs(context.ports, context.config, context.identity, container),
        ),
      ),
    );
  const removeSandbox = (sandbox: RuntimeSandbox): Observable<RoundOutput> =>
    effect(context, { name: "RemovePodSandbox" }, () => runtime.removePodSandbox({ podSandboxId: sandbox.id })).pipe(
      switchMap(failureOf),
    );
  return concat(
    inParallel(containers, removeContainer),
    defer(() => inParallel(sandboxes, removeSandbox)),
    defer(() => of(inspect(context))),
  );
}

/** Emits the failure of a removal, if there is one. */
const failureOf = (result: Result<unknown>): Observable<RoundOutput> =>
  result.ok || result.error.code === "NotFound" ? EMPTY : of(failed(withReason(result.error, "FailedRemove")));
