/**
 * Keeps the status of the Node up to date: reports a change of a cell at once, computes the status every
 * `nodeStatusUpdateFrequency` for other changes, and reports it at least every `nodeStatusReportFrequency` (default
 * 5 min). State: the last written Node, in one subscription. Owner of the cell `reportedNode`. Bound: one report at a time.
 * Upstream: syncNodeStatus of pkg/kubelet/kubelet_node_status.go.
 */
import {
  auditTime,
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  from,
  map,
  merge,
  type Observable,
  of,
  retry,
  switchMap,
} from "rxjs";
import { createStatusPatch } from "../../core/api/statusPatch.ts";
import type { Node } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { newerObject } from "../../core/node/newerObject.ts";
import { conditionOf } from "../../core/node/nodeConditions.ts";
import type { NodeFacts } from "../../core/node/nodeFacts.ts";
import { nodeStatusEvents } from "../../core/node/nodeEvents.ts";
import { afterReport, beingReported, type ReportedNode } from "../../core/node/reportedNode.ts";
import { hasNodeChanged, withNodeStatus } from "../../core/node/nodeStatus.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { reconcile } from "../../operators/reconcile.ts";
import type { Cell } from "../../state/cell.ts";
import type { NodeState, NodeView } from "../../state/nodeState.ts";
import type { NodeWriter } from "./nodeRegistration.ts";

/** Upstream's nodeStatusUpdateRetry. */
const ATTEMPTS = 5;
/** Changes within this time are reported together. */
const SETTLE_MS = 50;
/** Maximum delay of a check beyond its period, as a fraction of the period; upstream's value. */
const JITTER = 0.04;

/** The last written status, and when the next report is due. */
interface Written {
  node: Node | undefined;
  nextAt: number;
  /** Inputs of the last check without a change: equal inputs give no change again. */
  same: { readonly base: Node; readonly facts: NodeFacts } | undefined;
  readonly reported: Cell<ReportedNode | undefined>;
}

/** Reports while subscribed; emits the events of each written status. Never errors, never completes. */
export function nodeStatus(
  writer: NodeWriter,
  state: Pick<
    NodeView,
    | ("node" | "runtimeState" | "images" | "pressures" | "shuttingDown")
    | ("addresses" | "cloudInstance" | "devices" | "volumesInUse")
  > &
    Pick<NodeState, "reportedNode">,
): Observable<KubeletEvent> {
  const { clock, rng } = writer;
  return defer(() => {
    const written: Written = {
      node: undefined,
      nextAt: clock.monotonicMs(),
      same: undefined,
      reported: state.reportedNode,
    };
    const found$ = state.node.changes$.pipe(
      map((node) => node?.metadata?.uid),
      distinctUntilChanged(),
      filter((uid) => uid !== undefined),
    );
    return reconcile({
      triggers$: merge(
        of(undefined),
        state.runtimeState.changes$,
        state.images.changes$,
        state.pressures.changes$,
        state.shuttingDown.changes$,
        state.addresses.changes$,
        state.cloudInstance.changes$,
        state.devices.changes$,
        state.volumesInUse.changes$,
        found$,
        writer.returns$,
      ).pipe(auditTime(SETTLE_MS, clock.scheduler)),
      run: () => report(writer, written, () => state.node.value),
      wakeAfterMs: () => Math.round(writer.facts().settings.statusUpdatePeriodMs * (1 + JITTER * rng.next())),
      clock,
    });
  });
}

/** Sends a report, with up to ATTEMPTS tries; reads the Node from the API server before each retry. */
function report(writer: NodeWriter, written: Written, known: () => Node | undefined): Observable<KubeletEvent> {
  const { api, telemetry, deadlineMs } = writer;
  if (hasNothingNew(writer, written, newestOf(known(), written.node))) return EMPTY;
  let failures = 0;
  return defer(() => {
    const { name } = writer.facts();
    const node = newestOf(known(), written.node);
    const base$ = node === undefined || failures > 0 ? api.get("nodes", { name }, { deadlineMs }) : of(node);
    return base$.pipe(switchMap((base) => write(writer, written, base)));
  }).pipe(
    retry({
      count: ATTEMPTS - 1,
      delay: (thrown: unknown, count) => {
        failures = count;
        telemetry.log.error("Error updating node status, will retry", { error: toKubeletError(thrown) });
        return of(undefined);
      },
    }),
    catchError((thrown: unknown) => {
      telemetry.log.error("Unable to update node status", { error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );
}

function newestOf(known: Node | undefined, written: Node | undefined): Node | undefined {
  // The written Node was deleted when the known one has another UID.
  if (known === undefined || written === undefined) return known;
  return known.metadata?.uid === written.metadata?.uid ? newerObject(known, written) : known;
}

/** Returns whether an idle node can skip a check: its inputs are those of `same`, and no report is due. */
const hasNothingNew = ({ clock, facts }: NodeWriter, { same, nextAt }: Written, base: Node | undefined): boolean =>
  same !== undefined && clock.monotonicMs() < nextAt && same.base === base && same.facts === facts();

function write(writer: NodeWriter, written: Written, base: Node): Observable<KubeletEvent> {
  const { api, clock, rng, telemetry, deadlineMs, startup } = writer;
  const facts = writer.facts();
  const { name, settings } = facts;
  const isDue = clock.monotonicMs() >= written.nextAt;
  const { node, problem } = withNodeStatus(base, facts, formatInstant(clock.wallTime()));
  if (problem !== undefined) telemetry.log.error("Failed to set some node status fields", { error: problem });
  const hasChanged = hasNodeChanged(base, node);
  // A problem is logged at each check, so the next check must not be skipped.
  written.same = hasChanged || problem !== undefined ? undefined : { base, facts };
  const { volumesInUse } = facts;
  const confirm = (answer: Node): void =>
    written.reported.set(afterReport(written.reported.value, answer, volumesInUse));
  const body = hasChanged || isDue ? createStatusPatch("Node", base, node) : undefined;
  if (body === undefined) {
    confirm(base);
    return EMPTY;
  }
  // From now on, the API server may have the new list.
  written.reported.set(beingReported(written.reported.value, volumesInUse));
  const type = "application/strategic-merge-patch+json";
  return api.patch("nodes", { name }, { type, body }, { subresource: "status", deadlineMs }).pipe(
    switchMap((answer) => {
      const periodMs = settings.statusReportPeriodMs;
      // After a change, spread the next reports: many nodes may have changed at the same time.
      const spreadMs = hasChanged ? (rng.next() - 0.5) * periodMs : 0;
      written.node = answer;
      confirm(answer);
      written.nextAt = clock.monotonicMs() + periodMs + spreadMs;
      if (conditionOf(answer, "Ready")?.status === "True") startup.ready();
      return from(nodeStatusEvents(name, base, node));
    }),
  );
}
