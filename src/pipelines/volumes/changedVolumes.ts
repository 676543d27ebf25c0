/**
 * Finds the volumes whose ConfigMaps and Secrets changed, for volumes.ts, which wakes their workers. State: the objects
 * of each volume at the last call; the caller drops it.
 */
import type { Pod } from "../../core/api.ts";
import { type ConfigObjects, type ManifestObjectKey, objectKey } from "../../core/configObjects.ts";
import { perObject } from "../../core/perObject.ts";
import { volumeReferences } from "../../core/pod/podReferences.ts";
import { sameItems } from "../../core/sameValue.ts";
import { objectInputs } from "../../core/volume/contentInputs.ts";
import { usedVolumes, type Volume } from "../../core/volume/volumeLayout.ts";

/** The volumes of a pod by the objects that they name. */
const volumesByObject = perObject((pod: Pod): ReadonlyMap<ManifestObjectKey, readonly Volume[]> => {
  const byObject = new Map<ManifestObjectKey, Volume[]>();
  for (const volume of usedVolumes(pod)) {
    for (const { kind, name } of volumeReferences(volume)) {
      const key = objectKey(kind, pod.metadata.namespace, name);
      const volumes = byObject.get(key);
      if (volumes === undefined) byObject.set(key, [volume]);
      else if (volumes.at(-1) !== volume) volumes.push(volume);
    }
  }
  return byObject;
});

/**
 * Returns a function that names the volumes whose objects changed since its previous call; none while the pod is
 * unknown. If a single object changed, compares only the volumes that refer to it.
 */
export function changedVolumes(): (
  known: readonly [Pod | "keep" | undefined, Pick<ConfigObjects, "configMap" | "secret" | "problem" | "news">],
) => readonly string[] {
  const before = new Map<string, readonly unknown[]>();
  let compared: Pod | undefined;
  return ([pod, objects]) => {
    const isSamePod = pod === compared;
    compared = pod === "keep" ? undefined : pod;
    if (pod === undefined || pod === "keep") return [];
    const { news } = objects;
    const volumes = isSamePod && news !== undefined ? (volumesByObject(pod).get(news) ?? []) : usedVolumes(pod);
    return volumes.flatMap((volume) => {
      const inputs = objectInputs(pod.metadata.namespace, [volume], objects);
      if (sameItems(before.get(volume.name) ?? [], inputs)) return [];
      before.set(volume.name, inputs);
      return [volume.name];
    });
  };
}
