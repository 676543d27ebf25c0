/** Problems of whole manifests, and duplicate pods and objects across manifests. */
import { keyOf } from "../../configObjects.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { originWithin } from "./problemText.ts";
import type { ManifestContent } from "./readManifest.ts";

/** Returns a warning about a file or URL rather than a field. */
export const manifestNote = (origin: string, reason: string): ManifestProblem => ({
  severity: "warning",
  origin,
  line: undefined,
  field: undefined,
  reason,
  pod: undefined,
});

/** Returns the identity of a problem: equal for the same origin, pod and reason. */
export const wording = (problem: ManifestProblem): string =>
  `${problem.origin}\n${problem.pod?.uid ?? ""}\n${problem.reason}`;

/** Replaces problems by their equal known objects, so that they keep their identity. */
export const remembered = (
  known: ReadonlyMap<string, ManifestProblem>,
  problems: readonly ManifestProblem[],
): readonly ManifestProblem[] => problems.map((problem) => known.get(wording(problem)) ?? problem);

const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The content of one manifest with its origin. */
export type PlacedContent = ManifestContent & { readonly origin: string };

/**
 * Merges several manifests in order. The first of two pods with the same full name or UID wins, and the first of two
 * objects with the same name.
 */
export function withoutClashes(
  manifests: readonly PlacedContent[],
): ManifestContent & { readonly clashes: readonly ManifestProblem[] } {
  const owners = new Map<string, string>();
  const clashes: ManifestProblem[] = [];
  const isFirst = (origin: string, keys: readonly string[], pod: ManifestProblem["pod"]): boolean => {
    const taken = keys.find((key) => owners.has(key));
    if (taken === undefined) {
      for (const key of keys) owners.set(key, origin);
      return true;
    }
    const owner = owners.get(taken) ?? origin;
    const where = owner === origin ? "earlier in the same manifest" : `in ${originWithin(directoryOf(origin), owner)}`;
    const reason = `${taken} is already defined ${where}, which is the one used`;
    clashes.push({ ...manifestNote(origin, reason), severity: "error", pod });
    return false;
  };
  const pods = manifests.flatMap((manifest) =>
    manifest.pods.filter(({ metadata: { name, namespace, uid } }) =>
      isFirst(manifest.origin, [`pod ${namespace}/${name}`, `UID ${uid}`], { name, namespace, uid }),
    ),
  );
  const objects = manifests.flatMap((manifest) =>
    manifest.objects.filter((object) => isFirst(manifest.origin, [keyOf(object)], undefined)),
  );
  return { pods, objects, clashes };
}
