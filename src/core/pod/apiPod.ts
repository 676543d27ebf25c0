/**
 * From the object an API server hands out to a pod that may run. The server has validated it, so only that is checked
 * which this process lives on: the types of all fields, and everything that becomes a path. Unknown fields, of a newer
 * server, are ignored. Counterpart: the decoder of client-go, and the annotations pkg/kubelet/config adds.
 */
import type { V1Pod } from "@kubernetes/client-node";
import type { Pod, PodSpec, PodStatus, Wire } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { sameValue } from "../sameValue.ts";
import { rfc3339Nano } from "../telemetry/civilTime.ts";
import { defaultPod, type DecodedPod } from "./defaults.ts";
import { type FieldProblem, type FieldProblems, invalidEach, required } from "./fieldProblem.ts";
import { decodeObject } from "./manifest/decodeObject.ts";
import { dnsLabel } from "./validateFormats.ts";
import { validateMetadata } from "./validateMetadata.ts";

/** A pod as a server hands it out. */
export type ApiObject = Wire<V1Pod>;

/** What came of an object: a pod, or everything that forbids it to be one. */
export type ApiPodReading =
  | { readonly pod: Pod; readonly problems: readonly [] }
  | { readonly pod: undefined; readonly problems: readonly FieldProblem[] };

/** Reads an object; `seenAt` is when the pod was first seen, for its annotation. */
export function readApiPod(object: unknown, seenAt: EpochMs): ApiPodReading {
  const { value, problems } = decodeObject<DecodedPod>("Pod", object);
  const wrong = problems.filter(({ severity }) => severity === "error");
  if (wrong.length > 0) return { pod: undefined, problems: wrong };
  const { metadata: given = {}, ...rest } = defaultPod(value);
  const { managedFields: _ofWriters, ...metadata } = given;
  const { name = "", namespace = "", uid = "" } = metadata;
  const violations = [...identityProblems(metadata), ...nameProblems(rest.spec)];
  if (violations.length > 0) return { pod: undefined, problems: violations };
  // Nobody may pass a pod of the API for one of this node's own: what it says of its source is overwritten.
  const annotations = {
    ...metadata.annotations,
    "kubernetes.io/config.seen": rfc3339Nano(seenAt),
    "kubernetes.io/config.source": "api",
  };
  return { pod: { ...rest, metadata: { ...metadata, name, namespace, uid, annotations } }, problems: [] };
}

/**
 * As `readApiPod` of an object that differs from the one `pod` was read from in status and version alone, as after each
 * write of a status; undefined when that status cannot be read.
 */
export function withApiStatus(pod: Pod, { metadata, status }: ApiObject): Pod | undefined {
  const { value, problems } = decodeObject<PodStatus>("PodStatus", status ?? {}, "status");
  if (problems.length > 0) return undefined;
  const { status: _before, ...rest } = pod;
  const version = metadata?.resourceVersion;
  return {
    ...rest,
    metadata: version === undefined ? pod.metadata : { ...pod.metadata, resourceVersion: version },
    ...(status === undefined ? {} : { status: value }),
  };
}

/** Whether two objects of one pod differ in status and version alone. */
export const differInStatusAlone = (before: ApiObject, now: ApiObject): boolean =>
  sameValue(before.spec, now.spec) && sameValue(lasting(before), lasting(now));

const lasting = ({ metadata }: ApiObject): unknown => {
  const { managedFields: _ofWriters, resourceVersion: _ofWrites, ...rest } = metadata ?? {};
  return rest;
};

function* identityProblems(metadata: NonNullable<DecodedPod["metadata"]>): FieldProblems {
  if ((metadata.uid ?? "") === "") yield required("metadata.uid");
  yield* validateMetadata(metadata, "metadata");
}

/** Names of containers and volumes are names of directories. */
function* nameProblems(spec: PodSpec): FieldProblems {
  if (spec.containers.length === 0) yield required("spec.containers");
  for (const list of ["initContainers", "containers", "ephemeralContainers", "volumes"] as const) {
    for (const [index, { name }] of (spec[list] ?? []).entries()) {
      yield* invalidEach(`spec.${list}[${index}].name`, name ?? "", dnsLabel(name ?? ""));
    }
  }
}
