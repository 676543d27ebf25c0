/**
 * The sandbox a pod's containers run in: made with its directories and cgroup, or the one that is there.
 * Counterpart: kuberuntime_sandbox.go createPodSandbox.
 */
import { catchError, concat, defer, EMPTY, from, last, map, type Observable, of, switchMap, tap } from "rxjs";
import { allocationOf } from "../core/allocation/podAllocation.ts";
import type { Pod } from "../core/api.ts";
import { podDns } from "../core/container/dns.ts";
import { buildSandboxConfig } from "../core/container/sandboxConfig.ts";
import { type KubeletError, kubeletError, toKubeletError, withReason } from "../core/errors.ts";
import { type SandboxId, sandboxId } from "../core/ids.ts";
import { podDir, podLogDir, podPluginsDir, podVolumesDir } from "../core/paths.ts";
import type { PodActions } from "../core/pod/podActionsTypes.ts";
import { failedCreateSandboxEvent } from "../core/pod/podEvents.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { PodSandboxConfig } from "../gen/cri.ts";
import { inSequence } from "../operators/inSequence.ts";
import { ensurePodCgroup } from "./podCgroup.ts";
import { effect, eventOutput, inspect, type PodContext, podEvent } from "./podContext.ts";
import type { PodOutput } from "./podOutputs.ts";

/** A sandbox to start containers in. */
export interface Sandbox {
  readonly id: SandboxId;
  readonly config: PodSandboxConfig;
  /** Addresses of the pod, primary first; empty on the host network. */
  readonly podIps: readonly string[];
}

/** The live sandbox of the pod, as a place to start containers in. */
export function existingSandbox(
  context: PodContext,
  pod: Pod,
  runtime: PodRuntimeStatus,
  id: SandboxId,
): Result<Sandbox> {
  const known = runtime.sandboxes.find((sandbox) => sandbox.id === id);
  const config = buildSandboxConfig({ pod, attempt: known?.attempt ?? 0, node: context.node });
  return config.ok ? ok({ id, config: config.value, podIps: known?.ips ?? [] }) : config;
}

/**
 * Makes directories, cgroup and sandbox, and asks for its addresses. Tells the outcome through `made`, if it came so far:
 * nothing is asked of the runtime once `stop` is aborted.
 */
export function createSandbox(
  context: PodContext,
  pod: Pod,
  { attempt }: PodActions,
  stop: AbortSignal,
  made: (outcome: Result<Sandbox>) => void,
): Observable<PodOutput> {
  const { ports } = context;
  const failed = (error: KubeletError): Observable<PodOutput> => {
    made(err(error));
    ports.telemetry.metrics.count("kubelet_started_pods_errors_total");
    return of(eventOutput(failedCreateSandboxEvent(pod, error.message)));
  };
  return defer(() => {
    const config = buildSandboxConfig({ pod, attempt, node: context.node });
    if (!config.ok) return failed(config.error);
    const { runtimeClassName } = pod.spec;
    if (runtimeClassName !== undefined && runtimeClassName !== "") {
      const message = `RuntimeClass "${runtimeClassName}" cannot be looked up: this node has no API server`;
      return failed(kubeletError("Unimplemented", message, { reason: "CreatePodSandboxError" }));
    }
    const warnings = podDns(pod, context.node).warnings.map(({ reason, message }) =>
      podEvent(context, "Warning", reason, message),
    );
    const made$ = preparePod(context, pod).pipe(
      switchMap((prepared) => {
        if (!prepared.ok) return failed(prepared.error);
        if (stop.aborted) return EMPTY;
        return run(context, config.value).pipe(
          switchMap((outcome) => {
            if (!outcome.ok) return concat(failed(outcome.error), of(inspect(context)));
            made(outcome);
            ports.telemetry.metrics.count("kubelet_started_pods_total");
            return of(inspect(context));
          }),
        );
      }),
    );
    return concat(from(warnings), made$);
  });
}

function preparePod(context: PodContext, pod: Pod): Observable<Result<undefined>> {
  const { ports, config } = context;
  const { uid } = pod.metadata;
  const directories = [
    podDir(config.directories, uid),
    podVolumesDir(config.directories, uid),
    podPluginsDir(config.directories, uid),
  ];
  return concat(
    inSequence(directories, (path) => ports.files.makeDirectory(path, 0o750)),
    ports.files.makeDirectory(podLogDir(config.directories, pod.metadata), 0o755),
    ensurePodCgroup(context, pod),
  ).pipe(
    map(() => ok(undefined)),
    last(null, ok(undefined)),
    tap(() => {
      context.memory.sizes = { ...context.memory.sizes, cgroup: allocationOf(pod) };
    }),
    catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "FailedCreatePodContainer")))),
  );
}

function run(context: PodContext, config: PodSandboxConfig): Observable<Result<Sandbox>> {
  const { runtime, clock, telemetry } = context.ports;
  return defer(() => {
    const startedAt = clock.monotonicMs();
    const runtimeHandler = "";
    return effect(context, { name: "RunPodSandbox" }, () => runtime.runPodSandbox({ config, runtimeHandler })).pipe(
      switchMap((made) => {
        const seconds = (clock.monotonicMs() - startedAt) / 1000;
        telemetry.metrics.observe("kubelet_run_podsandbox_duration_seconds", seconds, {
          runtime_handler: runtimeHandler,
        });
        if (!made.ok) {
          telemetry.metrics.count("kubelet_run_podsandbox_errors_total", { runtime_handler: runtimeHandler });
          return of(err(withReason(made.error, "CreatePodSandboxError")));
        }
        const id = sandboxId(made.value.podSandboxId);
        return runtime.podSandboxStatus({ podSandboxId: id, verbose: false }).pipe(
          map(({ status }) => {
            const network = status?.network;
            const hostNetwork = config.linux?.securityContext?.namespaceOptions?.network === HOST_NETWORK;
            const ips = [network?.ip ?? "", ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
            return ok({ id, config, podIps: hostNetwork ? [] : ips.filter((ip) => ip !== "") });
          }),
          catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "FailedPodSandBoxStatus")))),
        );
      }),
    );
  });
}

/** NamespaceMode.NODE. */
const HOST_NETWORK = 2;
