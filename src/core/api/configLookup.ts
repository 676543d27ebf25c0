/** ConfigMaps and Secrets as the API server returns them. No message contains a value of a Secret. */
import type { ConfigLookup, ConfigObject } from "../configObjects.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { decodeObject } from "../pod/manifest/decodeObject.ts";

/** Plural names of the two resources. */
export const CONFIG_RESOURCES = { ConfigMap: "configmaps", Secret: "secrets" } as const;

/**
 * Converts an object of the server to a lookup. The server has validated it, so only the types of its fields are
 * checked.
 */
export function configLookupOf(kind: ConfigObject["kind"], object: unknown): ConfigLookup {
  const { value, problems } = decodeObject<ConfigObject>(kind, object, "", { hidesValues: kind === "Secret" });
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong !== undefined) {
    const what = `${kind.toLowerCase()} "${value.metadata?.name ?? ""}": ${wrong.field}: ${wrong.reason}`;
    return { kind: "unknown", error: kubeletError("InvalidArgument", what) };
  }
  return { kind: "found", object: { ...value, kind } as ConfigObject };
}

/** Returns whether the object can never change. */
export const isImmutable = (lookup: ConfigLookup): boolean =>
  lookup.kind === "found" && lookup.object.immutable === true;

/** The error when the server did not return the object in time; upstream's text. */
export const notSynced = (kind: ConfigObject["kind"]): KubeletError =>
  kubeletError("DeadlineExceeded", `failed to sync ${kind.toLowerCase()} cache: timed out waiting for the condition`);

/** The error when the requested object has no subscriber; upstream's text. */
export const notRegistered = (namespace: string, name: string): KubeletError =>
  kubeletError("NotFound", `object "${namespace}"/"${name}" not registered`);
