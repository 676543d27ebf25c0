/** Notes about manifests as places, and pods and objects that exist twice. */
import { keyOf } from "../../configObjects.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { originWithin } from "./problemText.ts";
import type { ManifestContent } from "./readManifest.ts";

/** A warning about a place rather than a field. */
export const manifestNote = (origin: string, reason: string): ManifestProblem => ({
  severity: "warning",
  origin,
  line: undefined,
  field: undefined,
  reason,
  pod: undefined,
});

/** What makes two notes the same. */
export const wording = (problem: ManifestProblem): string =>
  `${problem.origin}\n${problem.pod?.uid ?? ""}\n${problem.reason}`;

/** Equal problems as the objects known before. */
export const remembered = (
  known: ReadonlyMap<string, ManifestProblem>,
  problems: readonly ManifestProblem[],
): readonly ManifestProblem[] => problems.map((problem) => known.get(wording(problem)) ?? problem);

const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** What one manifest gives, and where it is. */
export type PlacedContent = ManifestContent & { readonly origin: string };

/** Content of several manifests, in order: of two pods with one full name or UID, or two objects of one name, the first. */
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
