/**
 * The sandbox of a pod: created with its directories and cgroup, or the existing one. Upstream:
 * kuberuntime_sandbox.go createPodSandbox.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  forkJoin,
  from,
  last,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  switchMap,
  takeUntil,
  tap,
} from "rxjs";
import { allocationOf } from "../../core/allocation/podAllocation.ts";
import type { Pod } from "../../core/api.ts";
import { type DnsWarning, podDns } from "../../core/container/dns.ts";
import type { ResolvConf } from "../../core/container/resolvConf.ts";
import { buildSandboxConfig } from "../../core/container/sandboxConfig.ts";
import { type KubeletError, toKubeletError, withReason } from "../../core/errors.ts";
import { type SandboxId, sandboxId } from "../../core/ids.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { podDir, podLogDir, podPluginsDir, podVolumesDir } from "../../core/paths.ts";
import type { PodActions } from "../../core/pod/podActionsTypes.ts";
import { isHostNetwork } from "../../core/pod/sandboxChange.ts";
import { failedCreateSandboxEvent } from "../../core/pod/podEvents.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { runtimeHandlerOf } from "../../core/runtime/runtimeHandler.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { NamespaceMode, type PodSandboxConfig, type UserNamespace } from "../../gen/cri.ts";
import { INSPECT_LATER, type InspectLater } from "./inspectLater.ts";
import { ensurePodCgroup } from "./makePodCgroup.ts";
import { inspect, lastingEffect, type PodContext, podEvent } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { resolverSettings } from "../resolverSettings.ts";

/** A sandbox to start containers in. */
export interface Sandbox {
  readonly id: SandboxId;
  /** The runtime's handler of the pod; empty for the default one. */
  readonly runtimeHandler: string;
  readonly config: PodSandboxConfig;
  readonly userNamespace: UserNamespace;
  /** Addresses of the pod, primary first; on the host network those of the node. */
  readonly podIps: readonly string[];
}

/** Returns the live sandbox of the pod, in which containers start. */
export function existingSandbox(
  context: PodContext,
  pod: Pod,
  runtime: PodRuntimeStatus,
  id: SandboxId,
): Observable<Result<Sandbox>> {
  const known = runtime.sandboxes.find((sandbox) => sandbox.id === id);
  const podIps = isHostNetwork(pod) ? context.node.nodeIps : (known?.ips ?? []);
  return resolverSettings(context).pipe(
    switchMap((resolver) => sandboxPlan(context, pod, known?.attempt ?? 0, resolver)),
    map((plan) => (plan.ok ? ok({ ...plan.value, id, podIps }) : plan)),
  );
}

interface SandboxPlan extends Pick<Sandbox, "config" | "runtimeHandler" | "userNamespace"> {
  readonly dnsWarnings: readonly DnsWarning[];
}

/** Returns the config of the sandbox; the pod has its user IDs from here on. */
function sandboxPlan(
  context: PodContext,
  pod: Pod,
  attempt: number,
  resolver: Result<ResolvConf | undefined>,
): Observable<Result<SandboxPlan>> {
  return defer(() => {
    if (!resolver.ok) return of(resolver);
    const handler = runtimeHandlerOf(pod, context.state.runtimeClasses.value);
    if (!handler.ok) return of(handler);
    const runtimeHandler = handler.value;
    return context.userNamespaces.provide(pod, runtimeHandler).pipe(
      map((provided): Result<SandboxPlan> => {
        if (!provided.ok) return provided;
        const userNamespace = provided.value;
        const { node } = context;
        const { config: dnsConfig, warnings: dnsWarnings } = podDns(pod, node, resolver.value);
        const config = buildSandboxConfig({ pod, attempt, userNamespace, node, dnsConfig });
        return config.ok ? ok({ config: config.value, runtimeHandler, userNamespace, dnsWarnings }) : config;
      }),
    );
  });
}

/** A sandbox to make. */
export interface SandboxTask {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly actions: Pick<PodActions, "attempt">;
  readonly stop: AbortSignal;
  /** Called with the result. */
  readonly made: (outcome: Result<Sandbox>) => void;
  /** Runs while the runtime makes the sandbox, and is cancelled at its end. */
  readonly ahead$: Observable<never>;
}

/**
 * Creates directories, cgroup and sandbox, reads the addresses of the sandbox, and passes the result to `made`. Makes
 * no call to the runtime once `stop` is aborted; `made` is then not called.
 */
export function createSandbox(task: SandboxTask): Observable<PodOutput | InspectLater> {
  const { context, pod, actions, stop, made, ahead$ } = task;
  const { metrics } = context.ports.telemetry;
  const failed = (error: KubeletError): Observable<PodOutput> => {
    made(err(error));
    metrics.count("kubelet_started_pods_errors_total");
    return of(eventOutput(failedCreateSandboxEvent(pod, error.message)));
  };
  return defer(() => {
    metrics.count("kubelet_started_pods_total");
    if (pod.spec.hostUsers === false) metrics.count("kubelet_started_user_namespaced_pods_total");
    return forkJoin([preparePod(context, pod), resolverSettings(context)]).pipe(
      switchMap(([prepared, resolver]) =>
        prepared.ok ? sandboxPlan(context, pod, actions.attempt, resolver) : of(prepared),
      ),
      switchMap((plan) => {
        if (!plan.ok) return failed(plan.error);
        if (stop.aborted) return EMPTY;
        const warnings = plan.value.dnsWarnings.flatMap((warning) => dnsEvents(context, warning));
        const made$ = beside(run(context, plan.value), ahead$).pipe(
          switchMap((outcome) => {
            if (!outcome.ok) return concat(failed(outcome.error), of(inspect(context)));
            made(outcome);
            return of(INSPECT_LATER);
          }),
        );
        return concat(from(warnings), made$);
      }),
    );
  });
}

function dnsEvents(context: PodContext, { reason, message, nodeMessage }: DnsWarning): readonly PodOutput[] {
  const ofNode = nodeMessage === undefined ? [] : [nodeEvent(context.config.nodeName, reason, nodeMessage, "Warning")];
  return [...ofNode.map(eventOutput), podEvent(context, "Warning", reason, message)];
}

/** Creates the directories of the pod, of its logs and its cgroup side by side. */
function preparePod(context: PodContext, pod: Pod): Observable<Result<undefined>> {
  const { ports, config } = context;
  const { uid } = pod.metadata;
  const inside = [podVolumesDir(config.directories, uid), podPluginsDir(config.directories, uid)];
  const make = (path: string, mode = 0o750): Observable<void> => ports.files.makeDirectory(path, mode);
  const directories$ = concat(make(podDir(config.directories, uid)), merge(...inside.map((path) => make(path))));
  const logs$ = make(podLogDir(config.directories, pod.metadata), 0o755);
  return merge(directories$, logs$, ensurePodCgroup(context, pod)).pipe(
    map(() => ok(undefined)),
    last(null, ok(undefined)),
    tap(() => {
      context.memory.allocation.sizes = { ...context.memory.allocation.sizes, cgroup: allocationOf(pod) };
    }),
    catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "FailedCreatePodContainer")))),
  );
}

/** Runs `side$` beside `main$`, and cancels it when `main$` completes. */
const beside = <T>(main$: Observable<T>, side$: Observable<never>): Observable<T> =>
  defer(() => {
    const over = new ReplaySubject<void>(1);
    return merge(main$.pipe(tap({ complete: () => over.next() })), side$.pipe(takeUntil(over)));
  });

function run(context: PodContext, plan: SandboxPlan): Observable<Result<Sandbox>> {
  const { runtime, clock, telemetry } = context.ports;
  const { config, runtimeHandler } = plan;
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return lastingEffect(context, { name: "RunPodSandbox" }, () =>
      runtime.runPodSandbox({ config, runtimeHandler }),
    ).pipe(
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
            const hostNetwork = config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
            const ips = [network?.ip ?? "", ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
            return ok({ ...plan, id, podIps: hostNetwork ? context.node.nodeIps : ips.filter((ip) => ip !== "") });
          }),
          catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "FailedPodSandBoxStatus")))),
        );
      }),
    );
  });
}
