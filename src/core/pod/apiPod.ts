/**
 * From the object an API server hands out to a pod that may run. The server has validated it, so only that is checked
 * which this process lives on: the types of all fields, and everything that becomes a path. Unknown fields, of a newer
 * server, are ignored. Counterpart: the decoder of client-go, and the annotations pkg/kubelet/config adds.
 */
import type { Pod, PodSpec } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { rfc3339Nano } from "../telemetry/civilTime.ts";
import { defaultPod, type DecodedPod } from "./defaults.ts";
import { type FieldProblem, type FieldProblems, invalidEach, required } from "./fieldProblem.ts";
import { decodeObject } from "./manifest/decodeObject.ts";
import { dnsLabel } from "./validateFormats.ts";
import { validateMetadata } from "./validateMetadata.ts";

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
