/** Validates volumes: names, exactly one source each, and the fields of each source, one row per source. */
import type { PodSpec } from "../api.ts";
import { parseQuantity } from "../quantity.ts";
import {
  duplicate,
  type FieldProblem,
  type FieldProblems,
  forbidden,
  invalid,
  invalidEach,
  required,
  unsupported,
} from "./fieldProblem.ts";
import { validateFieldRef, validateResourceRef } from "./validateEnv.ts";
import { dnsLabel, noBacksteps, projectedPath, relativePath } from "./validateFormats.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Sources = Omit<Volume, "name">;
type Rules = {
  readonly [Source in keyof Sources]?: (source: NonNullable<Sources[Source]>, path: string) => FieldProblems;
};
type KeyToPath = { readonly key: string; readonly path: string; readonly mode?: number };
type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];

const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Validates `spec.volumes`. */
export function* validateVolumes(volumes: readonly Volume[], path: string): FieldProblems {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const name = volume.name ?? "";
    if (name === "") yield required(`${at}.name`);
    else yield* invalidEach(`${at}.name`, name, dnsLabel(name));
    if (name !== "" && names.has(name)) yield duplicate(`${at}.name`, name);
    names.add(name);
    const sources = Object.keys(volume).filter((key) => key !== "name");
    if (sources.length === 0) yield required(at, "must specify a volume type");
    for (const source of sources.slice(1))
      yield forbidden(`${at}.${source}`, "may not specify more than 1 volume type");
    const source = sources[0] as keyof Sources | undefined;
    const rule = source && (RULES[source] as ((source: unknown, path: string) => FieldProblems) | undefined);
    if (source !== undefined && rule !== undefined) yield* rule(volume[source], `${at}.${source}`);
  }
}

/** Returns `required` for each of `keys` that `source` lacks. */
const needs = <T extends object>(
  source: T,
  path: string,
  keys: readonly (keyof T & string)[],
): readonly FieldProblem[] =>
  keys.filter((key) => source[key] === undefined || source[key] === "").map((key) => required(`${path}.${key}`));

const mode = (value: number | undefined, field: string): readonly FieldProblem[] =>
  value === undefined || (value >= 0 && value <= 0o777)
    ? []
    : [invalid(field, value, "must be a number between 0 and 0777 (octal), both inclusive")];

function* keysToPaths(items: readonly KeyToPath[] | undefined, path: string): FieldProblems {
  for (const [index, item] of (items ?? []).entries()) {
    const at = `${path}[${index}]`;
    yield* needs(item, at, ["key", "path"]);
    yield* invalidEach(`${at}.path`, item.path ?? "", projectedPath(item.path ?? ""));
    yield* mode(item.mode, `${at}.mode`);
  }
}

function* downwardFiles(items: readonly DownwardFile[] | undefined, path: string): FieldProblems {
  for (const [index, file] of (items ?? []).entries()) {
    const at = `${path}[${index}]`;
    yield* needs(file, at, ["path"]);
    yield* invalidEach(`${at}.path`, file.path ?? "", projectedPath(file.path ?? ""));
    yield* mode(file.mode, `${at}.mode`);
    const { fieldRef, resourceFieldRef } = file;
    if (fieldRef !== undefined) yield* validateFieldRef(fieldRef, VOLUME_FIELDS, `${at}.fieldRef`);
    if (resourceFieldRef !== undefined) yield* validateResourceRef(resourceFieldRef, true, `${at}.resourceFieldRef`);
    if (fieldRef === undefined && resourceFieldRef === undefined) {
      yield required(at, "one of fieldRef and resourceFieldRef is required");
    } else if (fieldRef !== undefined && resourceFieldRef !== undefined) {
      yield invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  }
}

/** Paths of the files that a projection creates in the volume. */
const pathsOf = (source: Projection): readonly string[] => [
  ...[source.secret, source.configMap, source.downwardAPI].flatMap((part) =>
    (part?.items ?? []).map((item) => item.path),
  ),
  ...[source.serviceAccountToken, source.clusterTrustBundle].flatMap((part) => (part === undefined ? [] : [part.path])),
];

function* projections(sources: readonly Projection[], path: string): FieldProblems {
  const paths = new Set<string>();
  for (const [index, source] of sources.entries()) {
    const at = `${path}[${index}]`;
    const given = Object.keys(source);
    if (given.length > 1) yield forbidden(at, "may not specify more than 1 volume type per source");
    if (source.secret !== undefined) {
      yield* needs(source.secret, `${at}.secret`, ["name"]);
      yield* keysToPaths(source.secret.items, `${at}.secret.items`);
    }
    if (source.configMap !== undefined) {
      yield* needs(source.configMap, `${at}.configMap`, ["name"]);
      yield* keysToPaths(source.configMap.items, `${at}.configMap.items`);
    }
    if (source.downwardAPI !== undefined) yield* downwardFiles(source.downwardAPI.items, `${at}.downwardAPI.items`);
    const token = source.serviceAccountToken;
    if (token !== undefined) {
      yield* needs(token, `${at}.serviceAccountToken`, ["path"]);
      const seconds = token.expirationSeconds ?? MIN_TOKEN_SECONDS;
      const field = `${at}.serviceAccountToken.expirationSeconds`;
      if (seconds < MIN_TOKEN_SECONDS) yield invalid(field, seconds, "may not specify a duration less than 10 minutes");
      if (seconds > MAX_TOKEN_SECONDS)
        yield invalid(field, seconds, "may not specify a duration larger than 2^32 seconds");
    }
    for (const file of pathsOf(source)) {
      if (file === undefined || file === "") continue;
      if (paths.has(file)) yield invalid(at, file, "conflicting duplicate paths");
      paths.add(file);
    }
  }
}

const RULES: Rules = {
  *emptyDir(source, path) {
    if ((parseQuantity(source.sizeLimit ?? "0")?.nano ?? 0n) < 0n) {
      yield forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
    }
  },
  *hostPath(source, path) {
    yield* needs(source, path, ["path"]);
    yield* invalidEach(`${path}.path`, source.path, noBacksteps(source.path ?? ""));
    if (!HOST_PATH_TYPES.includes(source.type ?? "")) yield unsupported(`${path}.type`, source.type, HOST_PATH_TYPES);
  },
  *secret(source, path) {
    yield* needs(source, path, ["secretName"]);
    yield* mode(source.defaultMode, `${path}.defaultMode`);
    yield* keysToPaths(source.items, `${path}.items`);
  },
  *configMap(source, path) {
    yield* needs(source, path, ["name"]);
    yield* mode(source.defaultMode, `${path}.defaultMode`);
    yield* keysToPaths(source.items, `${path}.items`);
  },
  *downwardAPI(source, path) {
    yield* mode(source.defaultMode, `${path}.defaultMode`);
    yield* downwardFiles(source.items, `${path}.items`);
  },
  *projected(source, path) {
    yield* mode(source.defaultMode, `${path}.defaultMode`);
    yield* projections(source.sources ?? [], `${path}.sources`);
  },
  *image(source, path) {
    yield* needs(source, path, ["reference"]);
    const policy = source.pullPolicy ?? "";
    if (!PULL_POLICIES.includes(policy)) yield unsupported(`${path}.pullPolicy`, policy, PULL_POLICIES);
  },
  *nfs(source, path) {
    yield* needs(source, path, ["server", "path"]);
    if (!(source.path ?? "").startsWith("/"))
      yield invalid(`${path}.path`, source.path ?? "", "must be an absolute path");
  },
  *gitRepo(source, path) {
    yield* needs(source, path, ["repository"]);
    yield* invalidEach(`${path}.directory`, source.directory, relativePath(source.directory ?? ""));
  },
  persistentVolumeClaim: (source, path) => needs(source, path, ["claimName"]),
  csi: (source, path) => needs(source, path, ["driver"]),
  iscsi: (source, path) => needs(source, path, ["targetPortal", "iqn"]),
  ephemeral: (source, path) => needs(source, path, ["volumeClaimTemplate"]),
};
