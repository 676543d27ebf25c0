/**
 * Formats of names and values. Each function returns the problems of a text, or an empty list if it is valid. Upstream:
 * util/validation of apimachinery.
 */
import { utf8Length } from "../utf8Length.ts";

type Complaints = readonly string[];

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_UNDERSCORE = /^[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?(\.[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?)*$/;
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const ENV_NAME = /^[ -<>-~]+$/;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const MAX_ID = 2 ** 31 - 1;

const atMost = (text: string, max: number): Complaints =>
  utf8Length(text) > max ? [`must be no more than ${max} bytes`] : [];
const matches = (text: string, pattern: RegExp, rule: string): Complaints => (pattern.test(text) ? [] : [rule]);

/** Names of containers, volumes, namespaces. */
export const dnsLabel = (text: string): Complaints => [
  ...atMost(text, 63),
  ...matches(
    text,
    LABEL,
    "a lowercase RFC 1123 label holds lower case letters, digits and '-', and starts and ends with a letter or digit",
  ),
];

/** Names of most objects. */
export const dnsSubdomain = (text: string): Complaints => [
  ...atMost(text, 253),
  ...matches(
    text,
    SUBDOMAIN,
    "a lowercase RFC 1123 subdomain holds lower case letters, digits, '-' and '.', and each part starts and ends with a letter or digit",
  ),
];

/** Search domains of resolv.conf: subdomains that may contain underscores. */
export const searchDomain = (text: string): Complaints => [
  ...atMost(text, 253),
  ...matches(text, SUBDOMAIN_UNDERSCORE, "a search domain holds lower case letters, digits, '-', '_' and '.'"),
];

/** Keys of labels and annotations, condition types, resource names: an optional domain and a name. */
export function qualifiedName(text: string): Complaints {
  const parts = text.split("/");
  if (parts.length > 2) return ["a qualified name is a name, or a DNS subdomain, '/' and a name"];
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, text];
  const ofPrefix =
    prefix === undefined
      ? []
      : prefix === ""
        ? ["prefix part must be non-empty"]
        : dnsSubdomain(prefix).map((why) => `prefix part: ${why}`);
  if (name === "") return [...ofPrefix, "name part must be non-empty"];
  return [
    ...ofPrefix,
    ...atMost(name, 63).map((why) => `name part ${why}`),
    ...matches(
      name,
      QUALIFIED_PART,
      "name part holds letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
    ),
  ];
}

/** Values of labels. */
export const labelValue = (text: string): Complaints => [
  ...atMost(text, 63),
  ...(text === ""
    ? []
    : matches(
        text,
        QUALIFIED_PART,
        "a label value is empty, or holds letters, digits, '-', '_' and '.' and starts and ends with a letter or digit",
      )),
];

/** Keys inside ConfigMaps and Secrets. */
export const configKey = (text: string): Complaints => [
  ...atMost(text, 253),
  ...matches(text, CONFIG_KEY, "a key holds letters, digits, '-', '_' and '.'"),
  ...(text === "." || text === ".." || text.startsWith("..") ? ["must not be '.' or start with '..'"] : []),
];

/** Names of environment variables: printable ASCII without '='. */
export const envName = (text: string): Complaints =>
  matches(text, ENV_NAME, "an environment variable name holds printable ASCII characters other than '='");

/** Names of HTTP header fields. */
export const httpHeaderName = (text: string): Complaints =>
  matches(text, HEADER_NAME, "an HTTP header name holds letters, digits and '-'");

/** Port numbers. */
export const portNumber = (port: number): Complaints =>
  port >= 1 && port <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];

/** Names of ports (RFC 6335). */
export const portName = (text: string): Complaints => [
  ...(utf8Length(text) > 15 ? ["must be no more than 15 characters"] : []),
  ...matches(text, /^[-a-z0-9]+$/, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
  ...matches(text, /[a-z]/, "must contain at least one letter (a-z)"),
  ...(text.includes("--") ? ["must not contain consecutive hyphens"] : []),
  ...(text.startsWith("-") || text.endsWith("-") ? ["must not begin or end with a hyphen"] : []),
];

/** User and group IDs. */
export const unixId = (id: number): Complaints =>
  id >= 0 && id <= MAX_ID ? [] : [`must be between 0 and ${MAX_ID}, inclusive`];

/** Sysctl names. */
export const sysctlName = (text: string): Complaints => [
  ...atMost(text, 253),
  ...matches(
    text,
    SYSCTL,
    "a sysctl name holds lower case letters, digits, '-' and '_' in parts separated by '.' or '/'",
  ),
];

/** IPv4 and IPv6 addresses without a zone. */
export const ipAddress = (text: string): Complaints =>
  isIpv4(text) || isIpv6(text) ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];

/** Paths below a directory, without '..'. */
export const relativePath = (text: string): Complaints => [
  ...(text.startsWith("/") ? ["must be a relative path"] : []),
  ...noBacksteps(text),
];

/** Paths without '..'. */
export const noBacksteps = (text: string): Complaints =>
  text.split("/").includes("..") ? ["must not contain '..'"] : [];

/** Paths of projected files. Names that start with '..' are reserved for the kubelet. */
export const projectedPath = (text: string): Complaints => [
  ...relativePath(text),
  ...(text.startsWith("..") && !text.startsWith("../") ? ["must not start with '..'"] : []),
];

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const dotted = text.lastIndexOf(":") + 1;
  const hasIpv4 = text.includes(".");
  if (hasIpv4 && !isIpv4(text.slice(dotted))) return false;
  const source = hasIpv4 ? `${text.slice(0, dotted)}0:0` : text;
  const halves = source.split("::");
  if (halves.length > 2 || !source.includes(":")) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}
