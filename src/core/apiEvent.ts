/**
 * Kubernetes events as core/v1 objects of the API server. Upstream: makeEvent and eventLogger of client-go's
 * tools/record.
 */
import type { ApiObjects } from "./api/apiResources.ts";
import type { KubeletError } from "./errors.ts";
import type { KubeletEvent } from "./events.ts";
import { epochMs, type EpochMs } from "./ids.ts";
import { formatInstant } from "./time/civilTime.ts";

/** An event to write: the first of its series, or a repetition. */
export interface CountedEvent {
  readonly event: KubeletEvent;
  /** Number of occurrences, this one included. */
  readonly count: number;
  /** Identifies the series: its start in nanoseconds of the wall clock, unique per recorder. */
  readonly beganNs: bigint;
  readonly lastAt: EpochMs;
}

export type ApiEvent = ApiObjects["events"];

const NS_PER_MS = 1_000_000n;
const COMPONENT = "kubelet";
/** Namespace for events of cluster-scoped objects, such as nodes. */
const NAMESPACE = "default";

/** Returns the namespace and name of the event object. */
export const eventRef = ({ event, beganNs }: CountedEvent): { readonly namespace: string; readonly name: string } => ({
  namespace: event.object.namespace === "" ? NAMESPACE : event.object.namespace,
  name: `${event.object.name}.${beganNs.toString(16)}`,
});

/** Builds the whole event object, reported by the node `host`. */
export function apiEvent(counted: CountedEvent, host: string): ApiEvent {
  const { event, count, beganNs, lastAt } = counted;
  const { kind, namespace, name, uid, resourceVersion, fieldPath } = event.object;
  return {
    metadata: { ...eventRef(counted), ...annotationsOf(event) },
    involvedObject: {
      kind,
      ...(namespace === "" ? {} : { namespace }),
      name,
      uid,
      apiVersion: "v1",
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fieldPath === "" ? {} : { fieldPath }),
    },
    reason: event.reason,
    message: event.message,
    source: { component: COMPONENT, host },
    firstTimestamp: formatInstant(epochMs(Number(beganNs / NS_PER_MS))),
    lastTimestamp: formatInstant(lastAt),
    count,
    type: event.type,
    reportingComponent: COMPONENT,
    reportingInstance: host,
  };
}

const annotationsOf = ({ annotations = {} }: KubeletEvent) =>
  Object.keys(annotations).length === 0 ? {} : { annotations };

/** Builds the strategic merge patch that records a repetition. */
export const eventPatch = ({ event, count, lastAt }: CountedEvent): Readonly<Record<string, unknown>> => ({
  count,
  lastTimestamp: formatInstant(lastAt),
  message: event.message,
});

const FINAL: ReadonlySet<KubeletError["code"]> = new Set([
  "InvalidArgument",
  "PermissionDenied",
  "NotFound",
  "AlreadyExists",
  "Conflict",
  "Unimplemented",
]);

/** Whether the server rejects the event for good, so that a retry is useless. */
export const isRefused = ({ code }: KubeletError): boolean => FINAL.has(code);

/** Whether the rejection is expected: the event exists already, or its namespace is terminating or gone. */
export function isExpectedRefusal({ code, cause }: KubeletError): boolean {
  const { details } = (cause ?? {}) as { details?: { causes?: readonly { readonly reason?: string }[] } };
  const isTerminating = (details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
  return code === "AlreadyExists" || code === "NotFound" || isTerminating;
}
