/** Validates a pod's metadata. Upstream: ValidateObjectMeta of apimachinery, and pod-specific annotations. */
import type { ObjectMeta } from "../api.ts";
import { type FieldProblems, forbidden, invalid, invalidEach, required, tooLong } from "./fieldProblem.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "./validateFormats.ts";

const MAX_ANNOTATION_BYTES = 256 * 1024;
const PATH_SAFE = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}$/;

/** Validates name, namespace, UID, labels, annotations, finalizers and owners. */
export function* validateMetadata(metadata: ObjectMeta, path: string): FieldProblems {
  const { namespace = "" } = metadata;
  yield* validateName(metadata, path);
  if (namespace === "") yield required(`${path}.namespace`);
  else yield* invalidEach(`${path}.namespace`, namespace, dnsLabel(namespace));
  yield* validateCommon(metadata, path);
}

/** Same as `validateMetadata` for a cluster-scoped object. */
export function* validateClusterMetadata(metadata: ObjectMeta, path: string): FieldProblems {
  yield* validateName(metadata, path);
  if ((metadata.namespace ?? "") !== "") yield forbidden(`${path}.namespace`, "not allowed on this type");
  yield* validateCommon(metadata, path);
}

function* validateName({ name = "" }: ObjectMeta, path: string): FieldProblems {
  if (name === "") yield required(`${path}.name`, "name or generateName is required");
  else yield* invalidEach(`${path}.name`, name, dnsSubdomain(name));
}

function* validateCommon(metadata: ObjectMeta, path: string): FieldProblems {
  const { uid = "" } = metadata;
  // Differs from upstream: the UID becomes a directory name, so reject one that could escape its directory.
  if (uid !== "" && !PATH_SAFE.test(uid)) {
    yield invalid(`${path}.uid`, uid, "must hold letters, digits, '-', '_' and '.' and not start with '.'");
  }
  yield* validateLabels(metadata.labels ?? {}, `${path}.labels`);
  yield* validateAnnotations(metadata.annotations ?? {}, `${path}.annotations`);
  if ((metadata.generation ?? 0) < 0) {
    yield invalid(`${path}.generation`, metadata.generation, "must be greater than or equal to 0");
  }
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    yield* invalidEach(`${path}.finalizers[${index}]`, finalizer, qualifiedName(finalizer));
  }
  yield* validateOwners(metadata.ownerReferences ?? [], `${path}.ownerReferences`);
}

/** Validates a map of labels, such as a node selector. */
export function* validateLabels(labels: Readonly<Record<string, string>>, path: string): FieldProblems {
  for (const [key, value] of Object.entries(labels)) {
    yield* invalidEach(`${path}[${key}]`, key, qualifiedName(key));
    yield* invalidEach(`${path}[${key}]`, value, labelValue(value));
  }
}

function* validateAnnotations(annotations: Readonly<Record<string, string>>, path: string): FieldProblems {
  let total = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // The domain of an annotation key may contain upper case.
    yield* invalidEach(`${path}[${key}]`, key, qualifiedName(key.toLowerCase()));
    total += key.length + value.length;
  }
  if (total > MAX_ANNOTATION_BYTES) yield tooLong(path, MAX_ANNOTATION_BYTES);
}

function* validateOwners(owners: NonNullable<ObjectMeta["ownerReferences"]>, path: string): FieldProblems {
  for (const [index, owner] of owners.entries()) {
    for (const key of ["apiVersion", "kind", "name", "uid"] as const) {
      if ((owner[key] ?? "") === "") yield invalid(`${path}[${index}].${key}`, owner[key] ?? "", "must not be empty");
    }
  }
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    yield invalid(
      path,
      controllers.map((owner) => owner.name),
      "only one reference can have controller set to true",
    );
  }
}
