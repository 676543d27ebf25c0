/**
 * Which credentials are for which image, most specific place first. Counterpart: BasicDockerKeyring of
 * pkg/credentialprovider/keyring.go.
 */
import type { RegistryCredential, RegistryCredentials } from "./dockerConfig.ts";

/** Credentials by place: host, port and the beginning of a path, without a scheme; the last in order of text first. */
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

/** What was written as a place, as it is looked for: without scheme, and without the version of an API. */
function keyOf(written: string): string {
  const [host = "", ...rest] = written.replace(/^https?:\/\//, "").split("/");
  const path = rest.length === 0 ? "" : `/${rest.join("/")}`.replace(/^\/v[12]\//, "/");
  return path === "/" ? host : `${host}${path}`;
}

/** A keyring of these credentials; those of one place keep their order. */
export function keyringOf(configs: readonly RegistryCredentials[]): Keyring {
  const byPlace = new Map<string, readonly RegistryCredential[]>();
  for (const [written, credential] of configs.flatMap((config) => [...config])) {
    const key = keyOf(written);
    byPlace.set(key, [...(byPlace.get(key) ?? []), credential]);
  }
  return new Map([...byPlace].sort(([a], [b]) => (a < b ? 1 : -1)));
}

/** Each of `*`, `?` and `[...]` within one label of a host name. */
function globOf(label: string): RegExp | undefined {
  const pattern = label.replace(/[\\^$.*+?()|{}]/g, (special) =>
    special === "*" ? "[^/]*" : special === "?" ? "[^/]" : `\\${special}`,
  );
  try {
    return new RegExp(`^${pattern}$`);
  } catch {
    return undefined;
  }
}

/** Whether an image is at a place with globs in its host: same port, as many labels, beginning of the path. */
export function isAtPlace(place: string, image: string): boolean {
  const [wanted, given] = [placeOf(place), placeOf(image)];
  if (wanted === undefined || given === undefined) return false;
  if (wanted.port !== given.port || wanted.labels.length !== given.labels.length) return false;
  if (!given.path.startsWith(wanted.path)) return false;
  return wanted.labels.every((label, index) => globOf(label)?.test(given.labels[index] ?? "") === true);
}

const isOfDefaultRegistry = (image: string): boolean => {
  const [host = "", ...rest] = image.split("/");
  return host !== "" && (rest.length === 0 || host === "docker.io" || host === DEFAULT_REGISTRY || !/[.:]/.test(host));
};

/** The credentials to try for an image, in order. `repository`: domain and path, without tag and digest. */
export function lookUp(keyring: Keyring, repository: string): readonly RegistryCredential[] {
  const found = [...keyring].flatMap(([place, credentials]) => (isAtPlace(place, repository) ? credentials : []));
  if (found.length > 0) return found;
  return isOfDefaultRegistry(repository) ? (keyring.get(DEFAULT_REGISTRY) ?? []) : [];
}
