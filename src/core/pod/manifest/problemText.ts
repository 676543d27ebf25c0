/** Formats manifest problems as single lines: `web.yaml:9: spec.containers[0].image: Required value`. Pure. */
import type { Pod } from "../../api.ts";
import { oneLine } from "../../telemetry/plainText.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";

/** Maximum number of pods to name in one line; the rest are counted. */
const MAX_KEPT_NAMED = 3;

/**
 * Formats a problem. `origin` replaces the full path or URL, for example by a path relative to the manifest directory.
 */
export function problemText(
  { line, field, reason, kept = [], ...problem }: ManifestProblem,
  origin = problem.origin,
): string {
  const place = line === undefined ? origin : `${origin}:${line}`;
  const text = [place, field, reason].filter((part) => part !== undefined).join(": ");
  return oneLine(kept.length === 0 ? text : `${text} (${keptText(kept)})`);
}

function keptText(kept: readonly string[]): string {
  const named = kept.slice(0, MAX_KEPT_NAMED);
  const rest = kept.length - named.length;
  const names = rest === 0 ? named : [...named, `${rest} more`];
  const last = names.at(-1) ?? "";
  const list = names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
  return kept.length === 1 ? `${list} keeps its last good version` : `${list} keep their last good versions`;
}

/** Returns the reference to a pod in a problem. */
export const referenceTo = ({ metadata: { name, namespace, uid } }: Pod): NonNullable<ManifestProblem["pod"]> => ({
  name,
  namespace,
  uid,
});

/** Returns the origin relative to the manifest directory, or unchanged when it lies elsewhere. */
export const originWithin = (directory: string, origin: string): string =>
  origin.startsWith(`${directory}/`) ? origin.slice(directory.length + 1) : origin;

/** Sorts problems by file and line. Problems of a whole file come before those of its lines. */
export const inOrder = (problems: readonly ManifestProblem[]): readonly ManifestProblem[] =>
  problems.toSorted((a, b) => {
    if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
    return (a.line ?? 0) - (b.line ?? 0);
  });
