/** Finds the volumes whose ConfigMaps and Secrets changed. State: what each volume was made of, the caller's to drop. */
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
 * Returns a function that names the volumes made of other objects than at its previous call; none while the pod is not
 * known. When one object is the only news, only the volumes that name it are compared.
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
