/** ConfigMaps and Secrets as an API server hands them out. No message holds a value of a Secret. */
import type { ConfigLookup, ConfigObject } from "../configObjects.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { decodeObject } from "../pod/manifest/decodeObject.ts";

/** Plural names of the two resources. */
export const CONFIG_RESOURCES = { ConfigMap: "configmaps", Secret: "secrets" } as const;

/** What an object of the server is to a pod. The server has validated it: only the types of its fields are checked. */
export function configLookupOf(kind: ConfigObject["kind"], object: unknown): ConfigLookup {
  const { value, problems } = decodeObject<ConfigObject>(kind, object, "", { hidesValues: kind === "Secret" });
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong !== undefined) {
    const what = `${kind.toLowerCase()} "${value.metadata?.name ?? ""}": ${wrong.field}: ${wrong.reason}`;
    return { kind: "unknown", error: kubeletError("InvalidArgument", what) };
  }
  return { kind: "found", object: { ...value, kind } as ConfigObject };
}

/** Whether it will never be another one. */
export const isImmutable = (lookup: ConfigLookup): boolean =>
  lookup.kind === "found" && lookup.object.immutable === true;

/** The server did not tell of the object in time: upstream's words. */
export const notSynced = (kind: ConfigObject["kind"]): KubeletError =>
  kubeletError("DeadlineExceeded", `failed to sync ${kind.toLowerCase()} cache: timed out waiting for the condition`);

/** Nobody follows the object that is asked for: upstream's words. */
export const notRegistered = (namespace: string, name: string): KubeletError =>
  kubeletError("NotFound", `object "${namespace}"/"${name}" not registered`);
