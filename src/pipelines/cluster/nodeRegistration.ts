/**
 * Creates the Node of this machine, or corrects the existing one; core/node/initialNode.ts decides its labels and
 * resources. Writes no cell: nodeObject.ts does. Bound: one attempt at a time. Upstream: registerWithAPIServer of
 * pkg/kubelet/kubelet_node_status.go.
 */
import { catchError, concat, defer, from, ignoreElements, type Observable, of, switchMap, tap } from "rxjs";
import { createStatusPatch } from "../../core/api/statusPatch.ts";
import type { Node } from "../../core/api.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { initialNode, reconciledNode } from "../../core/node/initialNode.ts";
import { nodeStatusEvents } from "../../core/node/nodeEvents.ts";
import type { NodeFacts } from "../../core/node/nodeFacts.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeStartup } from "./nodeStartup.ts";

export interface NodeWriter extends Pick<KubeletPorts, "clock" | "rng" | "telemetry"> {
  readonly api: Pick<ApiServer, "get" | "create" | "update" | "patch">;
  /** Deadline of every request, in milliseconds. */
  readonly deadlineMs: number;
  readonly facts: () => NodeFacts;
  readonly startup: NodeStartup;
  /** Emits when the server is reachable again. */
  readonly returns$: Observable<unknown>;
}

const BACKOFF: BackoffCurve = { initialMs: 100, maxMs: 7_000 };

/** Completes once the Node exists, after the events of its first status. Never errors. */
export function nodeRegistration(writer: NodeWriter): Observable<KubeletEvent> {
  const { clock, rng, telemetry, startup } = writer;
  const attempts$ = defer(() => tryRegister(writer)).pipe(
    retryWithBackoff({ ...BACKOFF, initialMs: 2 * BACKOFF.initialMs }, writer, ({ error }) =>
      telemetry.log.error("Unable to register node with API server", { error }),
    ),
  );
  return defer(() => {
    startup.attempted();
    // The runtime may answer meanwhile, so that the Node is Ready from the start.
    return concat(longTimer(clock, backoffDelay(BACKOFF, 1, rng)).pipe(ignoreElements()), attempts$);
  });
}

function tryRegister(writer: NodeWriter): Observable<KubeletEvent> {
  const { api, clock, telemetry, deadlineMs, startup } = writer;
  const { node, problem } = initialNode(writer.facts(), formatInstant(clock.wallTime()));
  if (problem !== undefined) telemetry.log.error("Failed to set some node status fields", { error: problem });
  const name = node.metadata?.name ?? "";
  telemetry.log.info("Attempting to register node", { node: name });
  const created$ = api.create("nodes", node, { deadlineMs }).pipe(tap(() => startup.registered()));
  return created$.pipe(
    catchError((thrown: unknown) => {
      const error: KubeletError = toKubeletError(thrown);
      if (error.code !== "AlreadyExists") throw error;
      telemetry.log.info("Node was previously registered", { node: name });
      return reconcile(writer, name, node);
    }),
    switchMap(() => {
      telemetry.log.info("Successfully registered node", { node: name });
      return from(nodeStatusEvents(name, undefined, node));
    }),
  );
}

function reconcile({ api, deadlineMs }: NodeWriter, name: string, initial: Node): Observable<Node> {
  return api.get("nodes", { name }, { deadlineMs }).pipe(
    switchMap((existing) => {
      const body = createStatusPatch("Node", existing, reconciledNode(existing, initial));
      if (body === undefined) return of(existing);
      const type = "application/strategic-merge-patch+json";
      return api.patch("nodes", { name }, { type, body }, { subresource: "status", deadlineMs });
    }),
  );
}
