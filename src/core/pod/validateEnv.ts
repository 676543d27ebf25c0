/** Validates environment variables and their field, resource, key and file references. */
import type { Container, PodSpec } from "../api.ts";
import {
  type FieldProblems,
  invalid,
  invalidEach,
  NO_VOLUME,
  notFound,
  required,
  unsupported,
} from "./fieldProblem.ts";
import { compareQuantity, parseQuantity, quantityOf, quantityOfMilli } from "../quantity.ts";
import { configKey, dnsSubdomain, envName, projectedPath, qualifiedName } from "./validateFormats.ts";
import { findNamed } from "../findNamed.ts";

type Env = NonNullable<Container["env"]>[number];
type ValueFrom = NonNullable<Env["valueFrom"]>;
type FieldRef = NonNullable<ValueFrom["fieldRef"]>;
type ResourceRef = NonNullable<ValueFrom["resourceFieldRef"]>;
type Volumes = NonNullable<PodSpec["volumes"]>;
type KeyRef = { readonly name?: string; readonly key: string };

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const RESOURCES = ["cpu", "ephemeral-storage", "memory"]
  .flatMap((name) => [`limits.${name}`, `requests.${name}`])
  .sort();
const SUBSCRIPT = /^(metadata\.(?:labels|annotations))\['(.+)'\]$/;
const DIVISOR_UNITS = ["", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => `1${unit}`);

/** Validates `env` and `envFrom` of the container at `path`, in a pod with these volumes. */
export function* validateEnv(
  container: Pick<Container, "env" | "envFrom">,
  volumes: Volumes,
  path: string,
): FieldProblems {
  for (const [index, env] of (container.env ?? []).entries()) {
    const at = `${path}.env[${index}]`;
    const name = env.name ?? "";
    if (name === "") yield required(`${at}.name`);
    else yield* invalidEach(`${at}.name`, name, envName(name));
    yield* validateValueFrom(env, volumes, `${at}.valueFrom`);
  }
  for (const [index, source] of (container.envFrom ?? []).entries()) {
    const at = `${path}.envFrom[${index}]`;
    const prefix = source.prefix ?? "";
    if (prefix !== "") yield* invalidEach(`${at}.prefix`, prefix, envName(prefix));
    const refs = [
      ["configMapRef", source.configMapRef],
      ["secretRef", source.secretRef],
    ] as const;
    const given = refs.filter(([, ref]) => ref !== undefined);
    if (given.length === 0) yield invalid(at, "", "must specify one of: `configMapRef` or `secretRef`");
    if (given.length > 1) yield invalid(at, "", "may not have more than one field specified at a time");
    for (const [key, ref] of given) {
      if ((ref?.name ?? "") === "") yield required(`${at}.${key}.name`);
      else yield* invalidEach(`${at}.${key}.name`, ref?.name, dnsSubdomain(ref?.name ?? ""));
    }
  }
}

function* validateValueFrom(env: Env, volumes: Volumes, path: string): FieldProblems {
  const from = env.valueFrom;
  if (from === undefined) return;
  const given = Object.keys(from).length;
  if (from.fieldRef !== undefined) yield* validateFieldRef(from.fieldRef, ENV_FIELDS, `${path}.fieldRef`);
  if (from.resourceFieldRef !== undefined)
    yield* validateResourceRef(from.resourceFieldRef, false, `${path}.resourceFieldRef`);
  if (from.configMapKeyRef !== undefined) yield* validateKeyRef(from.configMapKeyRef, `${path}.configMapKeyRef`);
  if (from.secretKeyRef !== undefined) yield* validateKeyRef(from.secretKeyRef, `${path}.secretKeyRef`);
  if (from.fileKeyRef !== undefined) yield* validateFileRef(from.fileKeyRef, volumes, `${path}.fileKeyRef`);
  if (given === 0) {
    yield invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
  } else if ((env.value ?? "") !== "") yield invalid(path, "", "may not be specified when `value` is not empty");
  else if (given > 1) yield invalid(path, "", "may not have more than one field specified at a time");
}

function* validateKeyRef(ref: KeyRef, path: string): FieldProblems {
  yield* invalidEach(`${path}.name`, ref.name ?? "", dnsSubdomain(ref.name ?? ""));
  if ((ref.key ?? "") === "") yield required(`${path}.key`);
  else yield* invalidEach(`${path}.key`, ref.key, configKey(ref.key));
}

function* validateFileRef(
  { volumeName = "", path: file = "", key = "" }: NonNullable<ValueFrom["fileKeyRef"]>,
  volumes: Volumes,
  path: string,
): FieldProblems {
  const volume = findNamed(volumes, volumeName);
  if (volumeName === "") yield required(`${path}.volumeName`);
  else if (volume === undefined) yield notFound(`${path}.volumeName`, volumeName, NO_VOLUME);
  else if (volume.emptyDir === undefined) {
    yield invalid(`${path}.volumeName`, volumeName, "referenced volume must be of type emptyDir");
  }
  if (file === "") yield required(`${path}.path`);
  else yield* invalidEach(`${path}.path`, file, projectedPath(file));
  if (key === "") yield required(`${path}.key`);
  else yield* invalidEach(`${path}.key`, key, envName(key));
}

/** Validates a reference to a pod field. `fields` are the fields allowed without a subscript. */
export function* validateFieldRef(ref: FieldRef, fields: readonly string[], path: string): FieldProblems {
  const { fieldPath = "", apiVersion = "" } = ref;
  if (apiVersion === "") yield required(`${path}.apiVersion`);
  else if (apiVersion !== "v1") yield unsupported(`${path}.apiVersion`, apiVersion, ["v1"]);
  if (fieldPath === "") {
    yield required(`${path}.fieldPath`);
    return;
  }
  const [, map, key = ""] = SUBSCRIPT.exec(fieldPath) ?? [];
  if (map !== undefined) {
    const name = map === "metadata.annotations" ? key.toLowerCase() : key;
    yield* invalidEach(path, key, qualifiedName(name));
  } else if (!fields.includes(fieldPath)) yield unsupported(`${path}.fieldPath`, fieldPath, fields);
}

/** Validates a reference to a container's resource. In a volume it must name the container. */
export function* validateResourceRef(ref: ResourceRef, inVolume: boolean, path: string): FieldProblems {
  const { resource = "", containerName = "" } = ref;
  if (inVolume && containerName === "") yield required(`${path}.containerName`);
  if (resource === "") yield required(`${path}.resource`);
  else if (!RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
    yield unsupported(`${path}.resource`, resource, RESOURCES);
  }
  if (ref.divisor === undefined) return;
  const divisor = parseQuantity(ref.divisor);
  if (divisor === undefined || divisor.nano === 0n) return;
  const isCpu = resource.endsWith(".cpu");
  const allowed = isCpu ? ["1m", "1"] : DIVISOR_UNITS;
  const fits = isCpu
    ? compareQuantity(divisor, quantityOf(1)) === 0 || compareQuantity(divisor, quantityOfMilli(1)) === 0
    : allowed.some((text) => compareQuantity(parseQuantity(text) ?? quantityOf(0), divisor) === 0);
  if (!fits) yield invalid(`${path}.divisor`, ref.divisor, `must be one of ${allowed.join(", ")}`);
}
