/**
 * Validates names in the node's configuration: label keys and values, taint effects, resource names, CPU lists, IP
 * addresses. Each check returns a readable reason, or undefined when the text is valid.
 * Upstream: apimachinery's util/validation, netutils.ParseIPSloppy.
 */

/** The effect of a taint on pods that do not tolerate it. */
export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

/** Every taint effect. */
export const TAINT_EFFECTS: readonly TaintEffect[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Returns true for a taint effect. */
export const isTaintEffect = (text: string): text is TaintEffect => (TAINT_EFFECTS as readonly string[]).includes(text);

const NAME_PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 63;
const MAX_PREFIX = 253;

/** Returns why `text` is not a label (or taint) key; undefined when it is valid. */
export function labelKeyFault(text: string): string | undefined {
  const parts = text.split("/");
  if (parts.length > 2) return "a label key has at most one /";
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? (parts[0] ?? "") : undefined;
  if (prefix === "") return "the part before / must not be empty";
  if (prefix !== undefined && (prefix.length > MAX_PREFIX || !DNS_SUBDOMAIN.test(prefix))) {
    return `the part before / must be a DNS subdomain of at most ${MAX_PREFIX} characters`;
  }
  if (name === "") return "a label key must not be empty";
  if (name.length > MAX_NAME) return `a label key must have at most ${MAX_NAME} characters`;
  return NAME_PART.test(name)
    ? undefined
    : "a label key consists of letters, digits, - _ . and starts and ends with a letter or digit";
}

/** Returns why `text` is not a label (or taint) value; undefined when it is valid. */
export function labelValueFault(text: string): string | undefined {
  if (text === "") return undefined;
  if (text.length > MAX_NAME) return `a label value must have at most ${MAX_NAME} characters`;
  return NAME_PART.test(text)
    ? undefined
    : "a label value consists of letters, digits, - _ . and starts and ends with a letter or digit";
}

const IPV4_PART = /^\d{1,3}$/;

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => IPV4_PART.test(part) && Number(part) <= 255);
}

/** Returns true for an IPv4 address (leading zeros allowed) or an IPv6 address without a zone. */
export function isIPAddress(text: string): boolean {
  if (!text.includes(":")) return isIPv4(text);
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const endsInIPv4 = last?.includes(".") === true && !text.endsWith("::");
  if (endsInIPv4 && !isIPv4(last)) return false;
  const plain = endsInIPv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false;
  const count = plain.length + (endsInIPv4 ? 2 : 0);
  return halves.length === 2 ? count < 8 : count === 8;
}

/** Returns true for an address range in CIDR notation, such as `10.85.0.0/16`. */
export function isAddressRange(text: string): boolean {
  const [, address = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  return isIPAddress(address) && Number(length) <= (address.includes(":") ? 128 : 32);
}

/** Returns true for `memory` and `hugepages-<size>`. */
export const isNumaMemoryResource = (name: string): boolean => name === "memory" || name.startsWith("hugepages-");
