/** Problems of whole manifests, and duplicate pods and objects across manifests. */
import { keyOf, type ManifestObjectKey } from "../../configObjects.ts";
import { fullNameOf, type PodFullName } from "../../ids.ts";
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
  const owners = new Map<string, Place>();
  const clashes: ManifestProblem[] = [];
  const isFirst = (place: Place, keys: readonly string[], pod: ManifestProblem["pod"]): boolean => {
    const taken = keys.find((key) => owners.has(key));
    if (taken === undefined) {
      for (const key of keys) owners.set(key, place);
      return true;
    }
    const reason = `${taken} is already defined ${whereOf(owners.get(taken) ?? place, place)}, which is the one used`;
    clashes.push({ ...manifestNote(place.origin, reason), line: place.line, severity: "error", pod });
    return false;
  };
  const pods = manifests.flatMap((manifest) => {
    const placeOf = placesIn(manifest);
    return manifest.pods.filter(({ metadata }) => {
      const { name, namespace, uid } = metadata;
      const keys = [`pod ${namespace}/${name}`, `UID ${uid}`];
      return isFirst(placeOf(fullNameOf(metadata)), keys, { name, namespace, uid });
    });
  });
  const objects = manifests.flatMap((manifest) => {
    const placeOf = placesIn(manifest);
    return manifest.objects.filter((object) => isFirst(placeOf(keyOf(object)), [keyOf(object)], undefined));
  });
  return { pods, objects, clashes };
}

interface Place {
  readonly origin: string;
  readonly line: number | undefined;
}

type Name = PodFullName | ManifestObjectKey;

/** Returns the places of the pods or objects of a manifest, which are asked for in its order. */
function placesIn({ origin, lines }: PlacedContent): (name: Name) => Place {
  const asked = new Map<Name, number>();
  return (name) => {
    const index = asked.get(name) ?? 0;
    asked.set(name, index + 1);
    return { origin, line: lines?.get(name)?.[index] };
  };
}

function whereOf(owner: Place, { origin }: Place): string {
  const { line } = owner;
  if (owner.origin === origin)
    return line === undefined ? "in the same manifest" : `on line ${line} of the same manifest`;
  const file = originWithin(directoryOf(origin), owner.origin);
  return line === undefined ? `in ${file}` : `in ${file}:${line}`;
}
