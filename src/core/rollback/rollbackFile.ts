/** Records of rollbacks on disk: one file for each manifest, named by the digest of its pod's full name. Pure. */
import type { Pod } from "../api.ts";
import { epochMs, fullNameOf, type PodFullName } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { validatePod } from "../pod/validatePod.ts";
import { sha256 } from "../sha256.ts";
import type { FailedVersion, RollbackRecord, Trial } from "./rollback.ts";

/** More than a manifest of 1 MiB takes with its defaults. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** Most records on disk; further manifests have no rollback. */
export const MAX_RECORDS = 1_000;
/** The message of a failure is bounded, so that it never grows a record. */
const MAX_WHY = 1_000;
const VERSION = 1;

/** Directory of the records. */
export const rollbackDirectory = (rootDir: string): string => `${rootDir}/rollback`;

/** Returns the name of the file of a record. */
export const rollbackFileName = (name: PodFullName): string => `${sha256(name).slice(0, 32)}.json`;

/** Whether a file may be a record. */
export const isRollbackFile = (file: string): boolean => /^[0-9a-f]{32}\.json$/.test(file);

/** Returns the content of the file. */
export const encodeRollback = ({ good, trial, failed }: RollbackRecord): string =>
  `${JSON.stringify({ version: VERSION, good, trial, failed: failed && { ...failed, why: failed.why.slice(0, MAX_WHY) } })}\n`;

/** Returns the record in a file; undefined when it is damaged, or its pod is not valid. */
export function decodeRollback(
  file: string,
  text: string,
): { readonly name: PodFullName; readonly record: RollbackRecord } | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document["version"] !== VERSION) return undefined;
  const good = podIn(document["good"]);
  if (good === undefined) return undefined;
  const name = fullNameOf(good.metadata);
  const [trial, failed] = [trialIn(document["trial"]), failedIn(document["failed"])];
  if (rollbackFileName(name) !== file || trial === "damaged" || failed === "damaged") return undefined;
  return { name, record: { good, trial, failed } };
}

function podIn(value: unknown): Pod | undefined {
  if (!isJsonObject(value) || !isJsonObject(value["metadata"]) || !isJsonObject(value["spec"])) return undefined;
  const { name, namespace, uid } = value["metadata"];
  if (typeof name !== "string" || typeof namespace !== "string" || typeof uid !== "string" || uid === "")
    return undefined;
  const pod = value as unknown as Pod;
  try {
    for (const { severity } of validatePod(pod)) if (severity === "error") return undefined;
  } catch {
    // A field has another type than any version of rxlet writes.
    return undefined;
  }
  return pod;
}

function trialIn(value: unknown): Trial | undefined | "damaged" {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return "damaged";
  const { uid, startedAt, boot } = value;
  if (typeof uid !== "string" || !Number.isFinite(startedAt) || typeof boot !== "string") return "damaged";
  return { uid, startedAt: epochMs(Number(startedAt)), boot };
}

function failedIn(value: unknown): FailedVersion | undefined | "damaged" {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return "damaged";
  const { uid, at, why } = value;
  if (typeof uid !== "string" || !Number.isFinite(at) || typeof why !== "string") return "damaged";
  return { uid, at: epochMs(Number(at)), why: why.slice(0, MAX_WHY) };
}
