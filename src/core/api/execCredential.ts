/** Input and output of an exec plugin: ExecCredential of client.authentication.k8s.io. */
import { kubeletError } from "../errors.ts";
import type { EpochMs } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import { parseInstant } from "../time/civilTime.ts";
import type { ExecPlugin, TlsIdentity } from "./clientConfig.ts";

/** Credentials that a plugin returned. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly identity: TlsIdentity | undefined;
  /** When to run the plugin again; undefined: when the server rejects the credentials. */
  readonly expiresAt: EpochMs | undefined;
}

/** Returns the value of KUBERNETES_EXEC_INFO. */
export const execInfo = ({ apiVersion, cluster }: ExecPlugin): string =>
  JSON.stringify({
    apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(cluster === undefined ? {} : { cluster }) },
  });

const bad = (plugin: ExecPlugin, why: string): Result<never> =>
  err(kubeletError("PermissionDenied", `exec plugin ${plugin.command}: ${why}`));

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Parses the output of a plugin. Errors: PermissionDenied with the reason. */
export function readExecCredential(plugin: ExecPlugin, printed: string): Result<ExecCredential> {
  const credential = parseJson(printed);
  if (!isJsonObject(credential)) return bad(plugin, "its output is not a JSON object");
  const { kind, apiVersion, status } = credential;
  if (kind !== "ExecCredential") return bad(plugin, `it printed a ${String(kind)}, not an ExecCredential`);
  if (apiVersion !== plugin.apiVersion) {
    return bad(
      plugin,
      `it is configured to use API version ${plugin.apiVersion}, and returned version ${String(apiVersion)}`,
    );
  }
  if (!isJsonObject(status)) return bad(plugin, "it did not return a status field");
  const token = textOf(status["token"]);
  const certificate = textOf(status["clientCertificateData"]);
  const key = textOf(status["clientKeyData"]);
  if ((certificate === undefined) !== (key === undefined))
    return bad(plugin, "it returned only certificate or key, not both");
  const identity = certificate === undefined || key === undefined ? undefined : { certificate, key };
  if (token === undefined && identity === undefined) return bad(plugin, "it did not return a token or cert/key pair");
  const expiry = textOf(status["expirationTimestamp"]);
  const expiresAt = parseInstant(expiry);
  if (expiry !== undefined && expiresAt === undefined)
    return bad(plugin, `its expirationTimestamp ${JSON.stringify(expiry)} is not a time`);
  return ok({ token, identity, expiresAt });
}
