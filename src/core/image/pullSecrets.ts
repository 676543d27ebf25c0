/** Registry credentials in a pod's Secrets. Upstream: MakeDockerKeyring of pkg/credentialprovider/secrets. */
import { decodeBase64 } from "../base64.ts";
import type { Secret } from "../configObjects.ts";
import { ok, type Result } from "../result.ts";
import { readDockerConfig, type RegistryCredentials, withSource } from "./dockerConfig.ts";

const FORMS = [
  { type: "kubernetes.io/dockerconfigjson", key: ".dockerconfigjson", form: "config.json" },
  { type: "kubernetes.io/dockercfg", key: ".dockercfg", form: ".dockercfg" },
] as const;

/** Returns the credentials in a Secret; undefined for a Secret of another type. */
function credentialsOf({ type, data = {}, metadata }: Secret): Result<RegistryCredentials> | undefined {
  const found = FORMS.find((each) => each.type === type && (data[each.key] ?? "") !== "");
  if (found === undefined) return undefined;
  const text = new TextDecoder().decode(decodeBase64(data[found.key] ?? ""));
  return readDockerConfig(found.form, text, `secret "${metadata.namespace}/${metadata.name}"`);
}

/** Returns the credentials of all Secrets. Errors: that of the first Secret that cannot be read. */
export function allCredentialsOf(secrets: readonly Secret[]): Result<readonly RegistryCredentials[]> {
  const all: RegistryCredentials[] = [];
  for (const secret of secrets) {
    const read = credentialsOf(secret);
    if (read === undefined) continue;
    if (!read.ok) return read;
    const { uid = "", namespace, name } = secret.metadata;
    all.push(withSource(read.value, { kind: "Secret", uid, namespace, name }));
  }
  return ok(all);
}

/** Message of the event for missing pull secrets. */
export const missingPullSecretsMessage = (names: readonly string[]): string =>
  `Unable to retrieve some image pull secrets (${names.join(", ")}); attempting to pull the image may not succeed.`;
