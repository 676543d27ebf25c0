/**
 * Reads Docker's registry credential files: `config.json`, and the older `.dockercfg`, whose content is the `auths`
 * member of the former. No message or error contains credentials. Upstream: pkg/credentialprovider/config.go.
 */
import { decodeBase64 } from "../base64.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";

/** User name and password for a registry; empty when absent. */
export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
  /** The object it comes from; absent for credentials of the node, which all its pods may use. */
  readonly source?: CredentialSource;
}

/** The Secret or service account a credential comes from. */
export interface CredentialSource {
  readonly kind: "Secret" | "ServiceAccount";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials by registry as written: with or without scheme and path. */
export type RegistryCredentials = ReadonlyMap<string, RegistryCredential>;

/** Docker files of the node: the first existing `config.json` of these paths, else a `.dockercfg`. */
export interface DockerFilePlaces {
  readonly configJson: readonly string[];
  readonly dockercfg: readonly string[];
}

/** Returns the same credentials with this source. */
export const withSource = (credentials: RegistryCredentials, source: CredentialSource): RegistryCredentials =>
  new Map([...credentials].map(([place, credential]) => [place, { ...credential, source }]));

const refuse = (what: string): Result<never> => err(kubeletError("InvalidArgument", what));

/** Reads the credentials of a file; `origin` names it in errors. Ignores other members, such as credential helpers. */
export function readDockerConfig(
  form: "config.json" | ".dockercfg",
  text: string,
  origin: string,
): Result<RegistryCredentials> {
  const given = parseJson(text);
  if (!isJsonObject(given)) return refuse(`${origin}: is not a JSON object`);
  const entries = form === ".dockercfg" ? given : (given["auths"] ?? {});
  if (!isJsonObject(entries)) return refuse(`${origin}: auths must be an object`);
  const credentials = new Map<string, RegistryCredential>();
  for (const [registry, entry] of Object.entries(entries)) {
    const read = readEntry(entry);
    if (typeof read === "string") return refuse(`${origin}: ${JSON.stringify(registry)}: ${read}`);
    credentials.set(registry, read);
  }
  return ok(credentials);
}

/** Reads one entry; returns a text when it is invalid. */
function readEntry(entry: unknown): RegistryCredential | string {
  if (!isJsonObject(entry)) return "must be an object";
  const { username = "", password = "", auth = "" } = entry;
  if (typeof username !== "string" || typeof password !== "string" || typeof auth !== "string") {
    return "username, password and auth must be strings";
  }
  if (auth === "") return { username, password };
  return decodeAuth(auth) ?? "unable to parse auth field, must be formatted as base64(username:password)";
}

function decodeAuth(auth: string): RegistryCredential | undefined {
  let text: string;
  try {
    text = new TextDecoder().decode(decodeBase64(auth));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
