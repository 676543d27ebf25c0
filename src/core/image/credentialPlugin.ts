/**
 * Requests to credential plugins, their responses, and the cache keys of the responses. No message contains
 * credentials. Upstream: pkg/credentialprovider/plugin/plugin.go, CredentialProviderRequest,
 * CredentialProviderResponse.
 */
import { parseDuration } from "../config/duration.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import type { CredentialProvider, TokenAttributes } from "./credentialProviderConfig.ts";
import type { RegistryCredential, RegistryCredentials } from "./dockerConfig.ts";

/** The service account of a plugin request. */
export interface PluginAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The annotations that the plugin's configuration names. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly token: string;
}

/** A plugin's response. */
export interface PluginResponse {
  readonly keptFor: "Image" | "Registry" | "Global";
  /** undefined: the response does not specify it. */
  readonly cacheMs: number | undefined;
  readonly credentials: RegistryCredentials;
}

type Annotations = Readonly<Record<string, string>>;

/**
 * Returns the annotations of a service account that the plugin receives; undefined when a required one is missing, then
 * the plugin is not run.
 */
export function pluginAnnotations(
  { requiredAnnotations, optionalAnnotations }: TokenAttributes,
  annotations: Annotations = {},
): Annotations | undefined {
  const has = (key: string): boolean => Object.hasOwn(annotations, key);
  if (!requiredAnnotations.every(has)) return undefined;
  const reported = [...requiredAnnotations, ...optionalAnnotations.filter(has)].sort();
  return Object.fromEntries(reported.map((key) => [key, annotations[key] ?? ""]));
}

/** Returns the request in its wire form; `image` is without tag and digest. Equal requests may share one response. */
export const pluginRequest = ({ apiVersion }: CredentialProvider, image: string, account?: PluginAccount): string =>
  JSON.stringify({
    kind: "CredentialProviderRequest",
    apiVersion,
    image,
    ...(account === undefined ? {} : { serviceAccountToken: account.token }),
    ...(Object.keys(account?.annotations ?? {}).length === 0
      ? {}
      : { serviceAccountAnnotations: account?.annotations }),
  });

const refuse = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));
const UNREADABLE = refuse("error decoding credential provider plugin response from stdout");

/** Parses a plugin's output. */
export function readPluginResponse({ apiVersion }: CredentialProvider, printed: string): Result<PluginResponse> {
  const response = parseJson(printed);
  if (!isJsonObject(response)) return refuse("error reading GVK from response: it is not a JSON object");
  const { kind, apiVersion: given = "", cacheKeyType, cacheDuration = null, auth = null, ...others } = response;
  if (given !== apiVersion) {
    return refuse(
      "apiVersion from credential plugin response did not match expected " +
        `apiVersion:${apiVersion}, actual apiVersion:${String(given)}`,
    );
  }
  const cacheMs = cacheDuration === null ? undefined : parseDuration(String(cacheDuration));
  const isOfKind = kind === "CredentialProviderResponse" && Object.keys(others).length === 0;
  if (!isOfKind || (cacheDuration !== null && cacheMs === undefined)) return UNREADABLE;
  const credentials = credentialsIn(auth ?? {});
  if (credentials === undefined) return UNREADABLE;
  if (cacheKeyType !== "Image" && cacheKeyType !== "Registry" && cacheKeyType !== "Global") {
    return refuse(
      `credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(cacheKeyType ?? "")}`,
    );
  }
  return ok({ keptFor: cacheKeyType, cacheMs, credentials });
}

function credentialsIn(auth: unknown): RegistryCredentials | undefined {
  if (!isJsonObject(auth)) return undefined;
  const credentials = new Map<string, RegistryCredential>();
  for (const [place, entry] of Object.entries(auth)) {
    if (!isJsonObject(entry)) return undefined;
    const { username = "", password = "", ...others } = entry;
    if (typeof username !== "string" || typeof password !== "string" || Object.keys(others).length > 0)
      return undefined;
    credentials.set(place, { username, password });
  }
  return credentials;
}

/**
 * Returns whether the response contains the request's service account token; such a response must not be cached for the
 * whole account.
 */
export const repeatsToken = ({ credentials }: PluginResponse, { token }: PluginAccount): boolean =>
  [...credentials.values()].some(({ password }) => password === token);

const registryOf = (image: string): string => image.split("/")[0] ?? "";

const cacheKey = (of: string, attributes: TokenAttributes | undefined, account: PluginAccount | undefined): string => {
  if (account === undefined) return JSON.stringify([of]);
  const { namespace, name, uid, annotations, token } = account;
  const own = attributes?.cacheType === "Token" ? [token] : [];
  return JSON.stringify([of, namespace, name, uid, annotations, ...own]);
};

/** Returns the cache keys that may hold a response for this image, the narrowest first. */
export const lookUpKeys = (
  { tokenAttributes }: CredentialProvider,
  image: string,
  account: PluginAccount | undefined,
): readonly string[] => [image, registryOf(image), "global"].map((key) => cacheKey(key, tokenAttributes, account));

/** Returns the cache key of this response. */
export function keepKey(
  { tokenAttributes }: CredentialProvider,
  { keptFor }: PluginResponse,
  image: string,
  account: PluginAccount | undefined,
): string {
  const key = { Image: image, Registry: registryOf(image), Global: "global" }[keptFor];
  return cacheKey(key, tokenAttributes, account);
}
