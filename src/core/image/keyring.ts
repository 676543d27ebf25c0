/**
 * Finds the credentials of an image, the most specific location first. Upstream: BasicDockerKeyring of
 * pkg/credentialprovider/keyring.go.
 */
import { matchesGlob } from "../glob.ts";
import type { RegistryCredential, RegistryCredentials } from "./dockerConfig.ts";

/** Credentials by location: host, port and path prefix, without a scheme; in descending text order. */
export type Keyring = ReadonlyMap<string, readonly RegistryCredential[]>;

const DEFAULT_REGISTRY = "index.docker.io";

interface Place {
  readonly labels: readonly string[];
  readonly port: string;
  readonly path: string;
}

function placeOf(text: string): Place | undefined {
  const [, host, path] = /^([^/]*)(\/.*)?$/.exec(text) ?? [];
  const [, name, port = ""] = /^(.*?)(?::(\d*))?$/.exec(host ?? "") ?? [];
  return name === undefined || name === "" ? undefined : { labels: name.split("."), port, path: path ?? "" };
}

/** Returns the key of a location as written: without its scheme and API version. */
function keyOf(written: string): string {
  const [host = "", ...rest] = written.replace(/^https?:\/\//, "").split("/");
  const path = rest.length === 0 ? "" : `/${rest.join("/")}`.replace(/^\/v[12]\//, "/");
  return path === "/" ? host : `${host}${path}`;
}

/** Builds a keyring; credentials of one location keep their order. */
export function keyringOf(configs: readonly RegistryCredentials[]): Keyring {
  const byPlace = new Map<string, RegistryCredential[]>();
  for (const config of configs) {
    for (const [written, credential] of config) {
      const key = keyOf(written);
      const known = byPlace.get(key);
      if (known === undefined) byPlace.set(key, [credential]);
      else known.push(credential);
    }
  }
  return new Map([...byPlace].sort(([a], [b]) => (a < b ? 1 : -1)));
}

/**
 * Returns whether an image matches a location: the same port, the same number of host labels, each matched, and the
 * path prefix.
 */
function isBelow(given: Place, place: string): boolean {
  const wanted = placeOf(place);
  if (wanted === undefined || wanted.port !== given.port || wanted.labels.length !== given.labels.length) return false;
  if (!given.path.startsWith(wanted.path)) return false;
  return wanted.labels.every((label, index) => matchesGlob(label, given.labels[index] ?? ""));
}

/** Returns whether an image matches a location, whose host labels may contain wildcards. */
export function isAtPlace(place: string, image: string): boolean {
  const given = placeOf(image);
  return given !== undefined && isBelow(given, place);
}

const isOfDefaultRegistry = (image: string): boolean => {
  const [host = "", ...rest] = image.split("/");
  return host !== "" && (rest.length === 0 || host === "docker.io" || host === DEFAULT_REGISTRY || !/[.:]/.test(host));
};

/** Returns the credentials to try for an image, in order. `repository`: domain and path, without tag and digest. */
export function lookUp(keyring: Keyring, repository: string): readonly RegistryCredential[] {
  const given = placeOf(repository);
  if (given === undefined) return [];
  const found = [...keyring].flatMap(([place, credentials]) => (isBelow(given, place) ? credentials : []));
  if (found.length > 0) return found;
  return isOfDefaultRegistry(repository) ? (keyring.get(DEFAULT_REGISTRY) ?? []) : [];
}
