/** Problems of manifests for people: each as one line of text, `web.yaml:9: spec.containers[0].image: Required value`. Pure. */
import { oneLine } from "../../telemetry/plainText.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";

/** The line; `origin` stands in for the full path or URL, a path relative to the manifest directory for example. */
export function problemText(
  { line, field, reason, ...problem }: Pick<ManifestProblem, "origin" | "line" | "field" | "reason">,
  origin = problem.origin,
): string {
  const place = line === undefined ? origin : `${origin}:${line}`;
  return oneLine([place, field, reason].filter((part) => part !== undefined).join(": "));
}

/** The origin of a problem relative to the manifest directory; unchanged when it lies elsewhere. */
export const originWithin = (directory: string, origin: string): string =>
  origin.startsWith(`${directory}/`) ? origin.slice(directory.length + 1) : origin;

/** Problems in the order of files and their lines; those of a whole file come before those of its lines. */
export const inOrder = (problems: readonly ManifestProblem[]): readonly ManifestProblem[] =>
  problems.toSorted((a, b) => {
    if (a.origin !== b.origin) return a.origin < b.origin ? -1 : 1;
    return (a.line ?? 0) - (b.line ?? 0);
  });
