/**
 * Converts log fields to plain JSON values without secrets, bounded in depth, width and length. Errors become one
 * sentence. Unreadable values become a marker; these functions throw on no input.
 */
import { isKubeletError } from "../errors.ts";

/** A value that a log line may contain. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** Replaces secrets. */
const REDACTED = "[redacted]";

const MAX_DEPTH = 6;
const MAX_ITEMS = 64;
const MAX_TEXT_LENGTH = 8192;
const MAX_CAUSES = 5;
/** Key names whose value is a secret. Names of Secret objects do not match. */
const SECRET_KEY =
  /(?:tokens?|passwords?|passwd|passphrase|secrets?|authorization|cookies?|api_?key|private_?key|credentials?|auth)$/i;
const AUTH_SCHEME = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}/gi;
const URL_USER = /:\/\/[^\s/@:]+:[^\s/@]+@/g;

/** Cuts text to a maximum length and removes bearer tokens and the passwords of URLs. */
export function safeText(text: string): string {
  const cut = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}... (${text.length} characters)` : text;
  return cut.replace(AUTH_SCHEME, `$1 ${REDACTED}`).replace(URL_USER, `://${REDACTED}@`);
}

/**
 * Formats an error as one sentence: reason and message of a KubeletError, message of an Error, then the causes that it
 * does not repeat.
 */
function errorText(thrown: unknown): string {
  const parts: string[] = [];
  let current: unknown = thrown;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth += 1) {
    const said = parts.join(": ");
    const message = ownText(current);
    if (message !== "" && !said.includes(message)) parts.push(message);
    current = typeof current === "object" && "cause" in current ? current.cause : undefined;
  }
  return safeText(parts.length === 0 ? "unknown error" : parts.join(": "));
}

function ownText(value: unknown): string {
  if (isKubeletError(value)) return value.reason === value.code ? value.message : `${value.reason}: ${value.message}`;
  if (value instanceof Error) return value.message === "" ? value.name : value.message;
  return typeof value === "string" ? value : "";
}

/** Returns true for values that `errorText` describes better than their fields do. */
const isErrorValue = (value: unknown): boolean => value instanceof Error || isKubeletError(value);

function plain(value: unknown, depth: number): PlainValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return safeText(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value === "function") return "[function]";
  if (isErrorValue(value)) return errorText(value);
  if (depth >= MAX_DEPTH) return "[too deep]";
  return plainObject(value, depth + 1);
}

function plainObject(value: object, depth: number): PlainValue {
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (value instanceof Map) return plainObject(Object.fromEntries(value), depth);
  if (Array.isArray(value) || value instanceof Set) {
    const items = [...value];
    const kept = items.slice(0, MAX_ITEMS).map((item) => plain(item, depth));
    return items.length > MAX_ITEMS ? [...kept, `... (${items.length} items)`] : kept;
  }
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.slice(0, MAX_ITEMS).map(([key, field]) => [key, plainField(key, field, depth)]));
}

/** Removes the values of containers' `env` lists: they may be secrets under harmless keys. */
function plainField(key: string, field: unknown, depth: number): PlainValue {
  if (SECRET_KEY.test(key) && field !== null && typeof field !== "boolean" && typeof field !== "number")
    return REDACTED;
  if ((key === "env" || key === "envs") && Array.isArray(field)) {
    return field.slice(0, MAX_ITEMS).map((item: unknown) => {
      const name = typeof item === "object" && item !== null ? (item as { name?: unknown; key?: unknown }) : {};
      return { name: plain(name.name ?? name.key, depth), value: REDACTED };
    });
  }
  return plain(field, depth);
}

/** Converts the fields of one log line to plain values, in order; omits `undefined` fields. */
export function plainFields(fields: Readonly<Record<string, unknown>>): readonly (readonly [string, PlainValue])[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => {
      try {
        return [key, plainField(key, value, 0)] as const;
      } catch {
        return [key, "[unreadable]"] as const;
      }
    });
}
