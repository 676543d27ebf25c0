/**
 * Configuration of credential plugins and their images: documents of kind CredentialProviderConfig, decoded strictly,
 * with all problems recorded by field. Upstream: pkg/credentialprovider/plugin/config.go.
 */
import { FieldReader } from "../api/fieldReader.ts";
import { type ConfigProblem, describeValue } from "../config/configProblem.ts";
import { parseDuration } from "../config/duration.ts";
import { labelKeyFault } from "../config/nodeNames.ts";

/** How a plugin uses the pod's service account, and the scope of its cached responses. */
export interface TokenAttributes {
  readonly audience: string;
  /** `ServiceAccount`: responses hold for all tokens of an account. `Token`: for one token. */
  readonly cacheType: "ServiceAccount" | "Token";
  /** Whether the plugin is skipped for pods without a service account. */
  readonly requireServiceAccount: boolean;
  /** Annotations without which the plugin is not run. */
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

/** Configuration of one plugin. */
export interface CredentialProvider {
  /** Name of its executable in the plugin directory. */
  readonly name: string;
  /** Image patterns, with globs in the host: `*.example.com/team`. */
  readonly matchImages: readonly string[];
  /** How long responses without a duration of their own are cached; 0: not at all. */
  readonly defaultCacheMs: number;
  /** API version of its requests and responses. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  /** Added to the kubelet's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly tokenAttributes: TokenAttributes | undefined;
}

/** The plugins of a document as far as it could be read, and its problems. */
export interface ReadProviders {
  readonly providers: readonly CredentialProvider[];
  readonly problems: readonly ConfigProblem[];
}

const CONFIG_GROUP = "kubelet.config.k8s.io";
const PLUGIN_GROUP = "credentialprovider.kubelet.k8s.io";
const VERSIONS = ["v1", "v1alpha1", "v1beta1"];
const STABLE_API = `${PLUGIN_GROUP}/v1`;
const TOKENS_GATE = "KubeletServiceAccountTokenForCredentialProviders";
const CACHE_TYPES: readonly TokenAttributes["cacheType"][] = ["ServiceAccount", "Token"];
const PROVIDER_FIELDS = ["name", "matchImages", "defaultCacheDuration", "apiVersion", "args", "env", "tokenAttributes"];
const TOKEN_FIELDS = [
  "serviceAccountTokenAudience",
  "cacheType",
  "requireServiceAccount",
  "requiredServiceAccountAnnotationKeys",
  "optionalServiceAccountAnnotationKeys",
];

/** Reads a decoded document; `tokensAllowed`: whether the gate for service account tokens is on. */
export function readCredentialProviders(document: unknown, tokensAllowed: boolean): ReadProviders {
  const problems: ConfigProblem[] = [];
  const top = new FieldReader(document, [], problems);
  refuseOthers(top, ["apiVersion", "kind", "providers"]);
  const kind = top.text("kind");
  if (kind !== "CredentialProviderConfig") {
    top.fault("kind", `must be CredentialProviderConfig, got ${JSON.stringify(kind)}`);
  }
  oneOf(top, "apiVersion", inGroup(CONFIG_GROUP));
  const readers = top.list("providers");
  if (readers.length === 0) top.fault("providers", "must have at least one plugin");
  const providers = readers.map((reader) => readProvider(reader, tokensAllowed));
  return { providers, problems };
}

const inGroup = (group: string): readonly string[] => VERSIONS.map((version) => `${group}/${version}`);

function refuseOthers(reader: FieldReader, known: readonly string[]): void {
  for (const field of Object.keys(reader.map)) if (!known.includes(field)) reader.fault(field, "is an unknown field");
}

function oneOf<T extends string>(reader: FieldReader, field: string, allowed: readonly T[]): T | undefined {
  const value = reader.text(field);
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  reader.fault(field, value === "" ? `is required: one of ${allowed.join(", ")}` : notAmong(allowed, value));
  return undefined;
}

const notAmong = (allowed: readonly string[], value: string): string =>
  `must be one of ${allowed.join(", ")}, got ${JSON.stringify(value)}`;

function texts(reader: FieldReader, field: string): readonly string[] {
  const value = reader.map[field] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  reader.fault(field, "must be a list of strings");
  return [];
}

function readProvider(reader: FieldReader, tokensAllowed: boolean): CredentialProvider {
  refuseOthers(reader, PROVIDER_FIELDS);
  const apiVersion = oneOf(reader, "apiVersion", inGroup(PLUGIN_GROUP)) ?? STABLE_API;
  return {
    name: nameOf(reader),
    matchImages: placesOf(reader),
    defaultCacheMs: cacheMsOf(reader),
    apiVersion,
    args: texts(reader, "args"),
    env: Object.fromEntries(
      reader.list("env").map((entry) => {
        refuseOthers(entry, ["name", "value"]);
        return [entry.text("name"), entry.text("value")];
      }),
    ),
    tokenAttributes:
      (reader.map["tokenAttributes"] ?? undefined) === undefined
        ? undefined
        : tokensOf(reader, apiVersion, tokensAllowed),
  };
}

function nameOf(reader: FieldReader): string {
  const name = reader.text("name");
  if (name === "") reader.fault("name", "is required: the name of the program");
  else if (name === "." || name === ".." || /[/ ]/.test(name)) {
    reader.fault("name", `must be the name of a program, without / and spaces, got ${JSON.stringify(name)}`);
  }
  return name;
}

function placesOf(reader: FieldReader): readonly string[] {
  const places = texts(reader, "matchImages");
  if (reader.map["matchImages"] === undefined || (Array.isArray(reader.map["matchImages"]) && places.length === 0)) {
    reader.fault("matchImages", "must have at least one image");
  }
  for (const place of places) {
    if (/[\s<>"\\^`{|}]|%(?![0-9a-fA-F]{2})/.test(place) || /^[a-z]+:\/\//.test(place)) {
      reader.fault("matchImages", `must be host, port and path without a scheme, got ${JSON.stringify(place)}`);
    }
  }
  return places;
}

function cacheMsOf(reader: FieldReader): number {
  const value = reader.map["defaultCacheDuration"];
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (value === undefined || value === null) reader.fault("defaultCacheDuration", 'is required, such as "10m"');
  else if (ms === undefined) {
    reader.fault("defaultCacheDuration", `must be a duration such as "10m", got ${describeValue(value)}`);
  } else if (ms < 0) reader.fault("defaultCacheDuration", `must not be negative, got ${describeValue(value)}`);
  return ms ?? 0;
}

function tokensOf(provider: FieldReader, apiVersion: string, tokensAllowed: boolean): TokenAttributes {
  const reader = provider.member("tokenAttributes");
  refuseOthers(reader, TOKEN_FIELDS);
  if (!tokensAllowed) reader.fault(undefined, `must not be set while the feature gate ${TOKENS_GATE} is off`);
  if (apiVersion !== STABLE_API) reader.fault(undefined, `needs apiVersion ${STABLE_API}`);
  const audience = reader.text("serviceAccountTokenAudience");
  if (audience === "") reader.fault("serviceAccountTokenAudience", "is required");
  const requireServiceAccount = reader.flag("requireServiceAccount");
  if ((reader.map["requireServiceAccount"] ?? undefined) === undefined)
    reader.fault("requireServiceAccount", "is required");
  const required = annotationKeys(reader, "requiredServiceAccountAnnotationKeys");
  const optional = annotationKeys(reader, "optionalServiceAccountAnnotationKeys");
  if (!requireServiceAccount && required.length > 0) {
    reader.fault("requiredServiceAccountAnnotationKeys", "needs requireServiceAccount to be true");
  }
  for (const key of required.filter((each) => optional.includes(each))) {
    reader.fault("optionalServiceAccountAnnotationKeys", `has ${JSON.stringify(key)}, which is a required one`);
  }
  return {
    audience,
    cacheType: oneOf(reader, "cacheType", CACHE_TYPES) ?? "Token",
    requireServiceAccount,
    requiredAnnotations: required,
    optionalAnnotations: optional,
  };
}

function annotationKeys(reader: FieldReader, field: string): readonly string[] {
  const keys = texts(reader, field);
  for (const [index, key] of keys.entries()) {
    const fault = labelKeyFault(key.toLowerCase())?.replace("a label key", "an annotation key");
    if (fault !== undefined) reader.fault(field, `${JSON.stringify(key)}: ${fault}`);
    if (keys.indexOf(key) !== index) reader.fault(field, `has ${JSON.stringify(key)} twice`);
  }
  return keys;
}
