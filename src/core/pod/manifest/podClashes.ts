/** Notes about manifests as places, and pods that exist twice. */
import type { Pod } from "../../api.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";

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

/** Pods of several manifests, in order: of two with one full name, or one UID, the first is taken. */
export function podClashes(manifests: readonly { readonly origin: string; readonly pods: readonly Pod[] }[]): {
  readonly pods: readonly Pod[];
  readonly clashes: readonly ManifestProblem[];
} {
  const owners = new Map<string, string>();
  const pods: Pod[] = [];
  const clashes: ManifestProblem[] = [];
  for (const { origin, pods: candidates } of manifests) {
    for (const pod of candidates) {
      const { name, namespace, uid } = pod.metadata;
      const keys = [`pod ${namespace}/${name}`, `UID ${uid}`];
      const taken = keys.find((key) => owners.has(key));
      if (taken === undefined) {
        for (const key of keys) owners.set(key, origin);
        pods.push(pod);
        continue;
      }
      const owner = owners.get(taken) ?? origin;
      const where = owner === origin ? "earlier in the same manifest" : `in ${owner}`;
      const reason = `${taken} is already defined ${where}, which is the one used`;
      clashes.push({ ...manifestNote(origin, reason), severity: "error", pod: { name, namespace, uid } });
    }
  }
  return { pods, clashes };
}
