/** The inputs of a volume's files as comparable values: equal inputs give equal files. */
import type { Pod } from "../api.ts";
import type { ConfigObject, ConfigObjects } from "../configObjects.ts";
import { podCertificateWishes } from "../cert/podCertificate.ts";
import { volumeReferences } from "../pod/podReferences.ts";
import type { Result } from "../result.ts";
import type { Volume } from "./volumeLayout.ts";
import type { VolumeInputs } from "./volumePlan.ts";
import { downwardKey, downwardText } from "./downwardText.ts";
import { anchorsWishes, tokenWishes } from "./identityFiles.ts";
import type { PayloadSources } from "./volumePayload.ts";

/** Returns an API object's version, or a manifest object itself, which is replaced on change and never edited. */
function contentOf(object: ConfigObject | undefined): unknown {
  const { uid, resourceVersion } = object?.metadata ?? {};
  return resourceVersion === undefined ? object : `${uid} ${resourceVersion}`;
}

/** Returns the known objects that these volumes reference, each as a value comparable by identity. */
export function objectInputs(
  namespace: string,
  volumes: readonly Volume[],
  objects: Pick<ConfigObjects, "configMap" | "secret" | "problem">,
): VolumeInputs {
  return volumes.flatMap(volumeReferences).map(({ kind, name }) => {
    const object = kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name);
    return objects.problem(kind, namespace, name)?.message ?? contentOf(object);
  });
}

/** Returns the outcome as a value comparable by identity. */
const reported = (result: Result<unknown>): unknown => (result.ok ? result.value : result.error.message);

/**
 * Returns all inputs of a volume's files, comparable by identity. A downward API text counts once for all files with the
 * same reference: many files may contain all annotations of the pod.
 */
export function contentInputs(pod: Pod, volume: Volume, sources: PayloadSources): VolumeInputs {
  const { objects, allocatable } = sources;
  const read = objectInputs(pod.metadata.namespace, [volume], objects);
  const identities = [
    ...tokenWishes(pod, volume).map(sources.token),
    ...anchorsWishes(volume).map(sources.anchors),
    ...podCertificateWishes(pod, volume).map(sources.credentials),
  ].map(reported);
  const items = [
    ...(volume.downwardAPI?.items ?? []),
    ...(volume.projected?.sources ?? []).flatMap(({ downwardAPI }) => downwardAPI?.items ?? []),
  ];
  const distinct = new Map(items.map((item) => [downwardKey(item), item])).values();
  const texts = [...distinct].map((item) => reported(downwardText(pod, item, allocatable)));
  return [...read, ...identities, ...texts];
}
