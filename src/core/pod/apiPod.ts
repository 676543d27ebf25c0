/**
 * Converts an object from the API server to a pod. The server has validated the object, so this checks only what the
 * process relies on: the types of all fields, and every name that becomes part of a path. Unknown fields, from a newer
 * server, are ignored. Upstream: the decoder of client-go, and the annotations that pkg/kubelet/config adds.
 */
import type { V1Pod } from "@kubernetes/client-node";
import type { Pod, PodSpec, PodStatus, Wire } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import { sameValue } from "../sameValue.ts";
import { rfc3339Nano } from "../time/civilTime.ts";
import { defaultPod, type DecodedPod } from "./defaults.ts";
import { type FieldProblem, type FieldProblems, invalidEach, required } from "./fieldProblem.ts";
import { decodeObject } from "./manifest/decodeObject.ts";
import { RESTORED_ANNOTATION } from "./restoredMark.ts";
import { dnsLabel } from "./validateFormats.ts";
import { validateMetadata } from "./validateMetadata.ts";

/** A pod as the API server returns it. */
export type ApiObject = Wire<V1Pod>;

/** Result of reading an object: a pod, or all problems that prevent it from being one. */
export type ApiPodReading =
  | { readonly pod: Pod; readonly problems: readonly [] }
  | { readonly pod: undefined; readonly problems: readonly FieldProblem[] };

/**
 * Reads an object. `seenAt` is when the kubelet first saw the pod, for its `config.seen` annotation. `spec`: the result
 * of reading the same spec before, which is not read again.
 */
export function readApiPod(object: unknown, seenAt: EpochMs, spec?: PodSpec): ApiPodReading {
  const unread = spec === undefined || !isJsonObject(object) ? object : { ...object, spec: undefined };
  const { value, problems } = decodeObject<DecodedPod>("Pod", unread);
  const wrong = problems.filter(({ severity }) => severity === "error");
  if (wrong.length > 0) return { pod: undefined, problems: wrong };
  const { metadata: given = {}, ...rest } = spec === undefined ? defaultPod(value) : { ...value, spec };
  const { managedFields: _ofWriters, ...metadata } = given;
  const { name = "", namespace = "", uid = "" } = metadata;
  const violations = [...identityProblems(metadata), ...nameProblems(rest.spec)];
  if (violations.length > 0) return { pod: undefined, problems: violations };
  // Overwrite the annotations of the kubelet, so a pod from the API server cannot pose as a static or restored one.
  const { [RESTORED_ANNOTATION]: _mark, ...others } = metadata.annotations ?? {};
  const annotations = {
    ...others,
    "kubernetes.io/config.seen": rfc3339Nano(seenAt),
    "kubernetes.io/config.source": "api",
  };
  return { pod: { ...rest, metadata: { ...metadata, name, namespace, uid, annotations } }, problems: [] };
}

/**
 * Same as `readApiPod` for an object that differs from the one `pod` was read from only in status and version, as after
 * each status write. Returns undefined when that status cannot be read.
 */
export function withApiStatus(pod: Pod, { metadata, status }: ApiObject): Pod | undefined {
  const { value, problems } = decodeObject<PodStatus>("PodStatus", status ?? {});
  if (problems.length > 0) return undefined;
  const { status: _before, ...rest } = pod;
  const version = metadata?.resourceVersion;
  return {
    ...rest,
    metadata: version === undefined ? pod.metadata : { ...pod.metadata, resourceVersion: version },
    ...(status === undefined ? {} : { status: value }),
  };
}

/** Returns whether the metadata of two objects of one pod differ in nothing but resource version and writers. */
export const sameLasting = (before: ApiObject, now: ApiObject): boolean => sameValue(lasting(before), lasting(now));

const lasting = ({ metadata }: ApiObject): unknown => {
  const { managedFields: _ofWriters, resourceVersion: _ofWrites, ...rest } = metadata ?? {};
  return rest;
};

function* identityProblems(metadata: NonNullable<DecodedPod["metadata"]>): FieldProblems {
  if ((metadata.uid ?? "") === "") yield required("metadata.uid");
  yield* validateMetadata(metadata, "metadata");
}

/** Names of containers and volumes become directory names. */
function* nameProblems(spec: PodSpec): FieldProblems {
  if (spec.containers.length === 0) yield required("spec.containers");
  for (const list of ["initContainers", "containers", "ephemeralContainers", "volumes"] as const) {
    for (const [index, { name }] of (spec[list] ?? []).entries()) {
      yield* invalidEach(`spec.${list}[${index}].name`, name ?? "", dnsLabel(name ?? ""));
    }
  }
}
