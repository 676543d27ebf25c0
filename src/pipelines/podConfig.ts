/**
 * Merges pod sources into differences, and reports each invalid manifest once. Owner of the cells sourcesSeen,
 * problems, configObjects, apiPodObjects and restored. Bound: one entry per manifest. Upstream: pkg/kubelet/config.
 */
import { map, type Observable } from "rxjs";
import type { KubeletEvent } from "../core/events.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { gatedPods } from "../core/pod/gatedFields.ts";
import { problemText } from "../core/pod/manifest/problemText.ts";
import type { PodUpdate } from "../core/pod/podUpdate.ts";
import type { ManifestProblem, SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import { sameValue } from "../core/sameValue.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import { eachOf } from "../operators/eachOf.ts";
import { type MergedConfig, mergePodConfig } from "./mergePodConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

export type PodConfigOutput =
  | { readonly kind: "update"; readonly update: PodUpdate }
  /** A source has reported its pods for the first time. After the last source, pods without a source are removed. */
  | { readonly kind: "seen" }
  | { readonly kind: "event"; readonly event: KubeletEvent };

type ConfigCells = Pick<NodeState, "sourcesSeen" | "problems" | "configObjects" | "apiPodObjects" | "restored">;

/** Follows the sources for as long as it is subscribed. */
export function podConfig(
  inputs: { readonly snapshots$: Observable<SourceSnapshot> },
  ports: Pick<KubeletPorts, "telemetry">,
  config: Pick<KubeletConfig, "podFieldGates">,
  state: ConfigCells,
): Observable<PodConfigOutput> {
  const gated = gatedPods(config.podFieldGates);
  const gated$ = inputs.snapshots$.pipe(map((snapshot) => ({ ...snapshot, pods: gated(snapshot.pods) })));
  return mergePodConfig(gated$).pipe(eachOf((merged) => applyConfig(merged, ports, state)));
}

/** Writes the merged configuration to its cells, reports new problems, and returns the outputs. */
function applyConfig(
  { updates, seen, snapshot, configObjects }: MergedConfig,
  { telemetry }: Pick<KubeletPorts, "telemetry">,
  state: ConfigCells,
): readonly PodConfigOutput[] {
  const { source, problems } = snapshot;
  const known = state.problems.value.get(source) ?? [];
  const fresh = problems.filter((problem) => !known.some((old) => sameValue(old, problem)));
  for (const problem of fresh) report(problem, source, telemetry);
  telemetry.metrics.gauge("rxlet_manifest_problems", problems.length, { source });
  state.problems.set(new Map(state.problems.value).set(source, problems));
  state.configObjects.set(configObjects);
  if (snapshot.reported !== undefined) state.apiPodObjects.set(snapshot.reported);
  if (source === "api") state.restored.set(snapshot.restored === true);
  for (const { op, pods } of updates) {
    const named = () => ({ source, pods: pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`) });
    telemetry.log.verbose("podConfig", VERBOSITY.podUpdates, `SyncLoop ${op}`, named);
  }
  const isNew = seen.has(source) && !state.sourcesSeen.value.has(source);
  if (isNew) state.sourcesSeen.set(seen);
  return [
    ...updates.map((update): PodConfigOutput => ({ kind: "update", update })),
    ...fresh.flatMap(problemEvent),
    ...(snapshot.events ?? []).map((event): PodConfigOutput => ({ kind: "event", event })),
    ...(isNew ? [{ kind: "seen" } as const] : []),
  ];
}

function report(problem: ManifestProblem, source: string, telemetry: KubeletPorts["telemetry"]): void {
  const { severity, ...fields } = problem;
  telemetry.metrics.count("rxlet_manifest_errors_total", { source });
  telemetry.log[severity === "warning" ? "warn" : "error"]("Manifest problem", { source, ...fields });
}

/** A problem without a known pod appears only in the log and metrics: an event needs an object. */
function problemEvent(problem: ManifestProblem): readonly PodConfigOutput[] {
  const { pod, severity } = problem;
  if (pod === undefined || severity === "warning") return [];
  return [
    {
      kind: "event",
      event: {
        type: "Warning",
        reason: "FailedValidation",
        message: problemText(problem),
        object: { kind: "Pod", ...pod, fieldPath: "" },
      },
    },
  ];
}
