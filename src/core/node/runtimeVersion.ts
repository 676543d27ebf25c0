/**
 * Formats the runtime's version for the Node. Upstream: kuberuntime's newRuntimeVersion, apimachinery's util/version.
 */

const NUMBERS = /^\s*v?(\d+(?:\.\d+)*)/;
const SEMANTIC_REST = /^(-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?\s*$/;
const ZERO_PREFIXED = /^0\d/;

/**
 * Returns the numbers without a leading v, plus pre-release and build of a semantic version. `1.6.20~ds1` is `1.6.20`.
 * undefined for a version with fewer than two numbers.
 */
export function formatRuntimeVersion(text: string): string | undefined {
  const [head = "", numbers = ""] = NUMBERS.exec(text) ?? [];
  const rest = text.slice(head.length);
  const parts = numbers.split(".");
  const [, preRelease = "", build = ""] = SEMANTIC_REST.exec(rest) ?? [];
  const isSemantic =
    parts.length === 3 &&
    SEMANTIC_REST.test(rest) &&
    ![...parts, ...preRelease.slice(1).split(".").filter(isNumber)].some((part) => ZERO_PREFIXED.test(part));
  if (isSemantic) return numbers + preRelease + build;
  return parts.length < 2 || ZERO_PREFIXED.test(numbers) ? undefined : parts.map(Number).join(".");
}

const isNumber = (part: string): boolean => /^\d+$/.test(part);
