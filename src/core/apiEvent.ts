/** Kubernetes events as core/v1 objects of the API server. Counterpart: makeEvent and eventLogger of tools/record. */
import type { ApiObjects } from "./api/apiResources.ts";
import type { KubeletError } from "./errors.ts";
import type { KubeletEvent } from "./events.ts";
import { epochMs, type EpochMs } from "./ids.ts";
import { formatInstant } from "./telemetry/civilTime.ts";

/** An event to be written: the first of its kind, or the next of a series. */
export interface CountedEvent {
  readonly event: KubeletEvent;
  /** How many times it was seen, this one included. */
  readonly count: number;
  /** Names the series: when it began in nanoseconds of the wall clock, no two of one recorder alike. */
  readonly beganNs: bigint;
  readonly lastAt: EpochMs;
}

export type ApiEvent = ApiObjects["events"];

const NS_PER_MS = 1_000_000n;
const COMPONENT = "kubelet";
/** Events of objects without a namespace, as nodes. */
const NAMESPACE = "default";

/** The object an event is stored in. */
export const eventRef = ({ event, beganNs }: CountedEvent): { readonly namespace: string; readonly name: string } => ({
  namespace: event.object.namespace === "" ? NAMESPACE : event.object.namespace,
  name: `${event.object.name}.${beganNs.toString(16)}`,
});

/** The whole object, as the node `host` creates it. */
export function apiEvent(counted: CountedEvent, host: string): ApiEvent {
  const { event, count, beganNs, lastAt } = counted;
  const { kind, namespace, name, uid, resourceVersion, fieldPath } = event.object;
  return {
    metadata: eventRef(counted),
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

/** What makes the stored object tell of one more, as a strategic merge patch. */
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

/** Whether the server will not take the event, however often it is sent. */
export const isRefused = ({ code }: KubeletError): boolean => FINAL.has(code);

/** Whether that was to be expected: it is there already, or its namespace, and all in it, is about to go or gone. */
export function isExpectedRefusal({ code, cause }: KubeletError): boolean {
  const { details } = (cause ?? {}) as { details?: { causes?: readonly { readonly reason?: string }[] } };
  const isTerminating = (details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
  return code === "AlreadyExists" || code === "NotFound" || isTerminating;
}
