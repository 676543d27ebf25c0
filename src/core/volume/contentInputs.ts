/** What the files of a volume are made of, as values to compare: the same ones make the same files. */
import type { Pod } from "../api.ts";
import { podFieldText, resourceFieldText } from "../container/fieldRef.ts";
import { volumeReferences } from "../pod/podReferences.ts";
import type { Volume } from "./volumeLayout.ts";
import type { VolumeInputs } from "./volumePlan.ts";
import { type PayloadSources, tokenWishes } from "./volumePayload.ts";

/** Objects by identity, since they are replaced and never edited; everything else by value. */
export function contentInputs(pod: Pod, volume: Volume, { objects, token, allocatable }: PayloadSources): VolumeInputs {
  const { namespace } = pod.metadata;
  const read = volumeReferences(volume).map(
    ({ kind, name }) =>
      objects.problem(kind, namespace, name)?.message ??
      (kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name)),
  );
  const tokens = tokenWishes(pod, volume).map((wish) => {
    const issued = token(wish);
    return issued.ok ? issued.value : issued.error.message;
  });
  const items = [
    ...(volume.downwardAPI?.items ?? []),
    ...(volume.projected?.sources ?? []).flatMap(({ downwardAPI }) => downwardAPI?.items ?? []),
  ];
  const [first] = pod.spec.containers;
  const texts = items.map(({ fieldRef, resourceFieldRef }) => {
    if (fieldRef !== undefined) return podFieldText(pod, fieldRef.fieldPath, { podIps: [], nodeIps: [] });
    if (resourceFieldRef === undefined || first === undefined) return undefined;
    return resourceFieldText(pod, first, resourceFieldRef, allocatable);
  });
  return [...read, ...tokens, ...texts];
}
