/**
 * Records of what the pods of the API server need: kept on disk, sealed, for a boot without that server. One file per
 * record, named by a digest, since the keys come from pods' owners. Upstream: none (its bootstrap checkpoint, removed
 * in 1.24, held pods alone).
 */
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import { sha256 } from "../sha256.ts";

const KINDS = ["pod", "object", "token", "claim", "volume", "services", "runtimeclasses"] as const;

/** The kinds of records. */
export type KeptKind = (typeof KINDS)[number];

/** A record. */
export interface KeptRecord {
  readonly kind: KeptKind;
  /** Identifies it within its kind: the UID of a pod, the key of an object, token or claim; empty where there is one only. */
  readonly key: string;
  /** A JSON value. The same object as long as it is unchanged. */
  readonly value: unknown;
}

/** Bound on the text of a record. An object of the API server has at most 1.5 MiB. */
export const MAX_RECORD_BYTES = 4 << 20;
/** Bound on a sealed record: base64 and the envelope. */
export const MAX_SEALED_BYTES = 6 << 20;
/** Bound on the number of records. */
export const MAX_RECORDS = 16_384;
/** Bound on the text of all records together. */
export const MAX_RECORDS_BYTES = 256 << 20;

const VERSION = 1;
const DIGITS = 40;
const DIGEST = /^[0-9a-f]{40}$/;

/** Returns the file name of a record. */
export const recordName = (kind: KeptKind, key: string): string =>
  `${kind}-${sha256(`${kind} ${key}`).slice(0, DIGITS)}`;

/** Returns whether a file name is that of a record. */
export const isRecordName = (name: string): boolean =>
  KINDS.some((kind) => name.startsWith(`${kind}-`) && DIGEST.test(name.slice(kind.length + 1)));

/** Returns the text of a record. */
export const encodeRecord = ({ kind, key, value }: KeptRecord): string =>
  JSON.stringify({ version: VERSION, kind, key, value });

/** Parses the text in the file of this name. Errors: InvalidArgument, with the reason; no message has a value. */
export function decodeRecord(name: string, text: string): Result<KeptRecord> {
  const document = parseJson(text);
  if (!isJsonObject(document)) return refuse("it is not a JSON object");
  const { version, kind, key, value } = document;
  if (version !== VERSION) return refuse(`version ${JSON.stringify(version)} is not ${VERSION}`);
  const known = KINDS.find((each) => each === kind);
  if (known === undefined || typeof key !== "string") return refuse("it has no kind and key of a record");
  if (recordName(known, key) !== name) return refuse("it is the record of another file");
  return ok({ kind: known, key, value });
}

const refuse = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));
