/**
 * Docker's two forms of a file of registry credentials: `config.json`, and the older `.dockercfg`, which is what the
 * first has under `auths`. Neither message nor error holds any of them. Counterpart: pkg/credentialprovider/config.go.
 */
import { decodeBase64 } from "../base64.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";

/** What a registry is told of who asks; empty where it was not given. */
export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
  /** Whose it is; absent: the node's, for all its pods. */
  readonly source?: CredentialSource;
}

/** Where a credential comes from that is not for everybody. */
export interface CredentialSource {
  readonly kind: "Secret" | "ServiceAccount";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials by where they are for, as it was written: a registry, with or without scheme and path. */
export type RegistryCredentials = ReadonlyMap<string, RegistryCredential>;

/** Docker files of the node: `config.json` at the first of these paths that has one, else a `.dockercfg`. */
export interface DockerFilePlaces {
  readonly configJson: readonly string[];
  readonly dockercfg: readonly string[];
}

/** The same credentials, all of that source. */
export const withSource = (credentials: RegistryCredentials, source: CredentialSource): RegistryCredentials =>
  new Map([...credentials].map(([place, credential]) => [place, { ...credential, source }]));

const refuse = (what: string): Result<never> => err(kubeletError("InvalidArgument", what));

/** The credentials of a file; `origin` names it in errors. Other members, as helpers, mean nothing to a kubelet. */
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

/** One entry, or what is wrong with it. */
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
