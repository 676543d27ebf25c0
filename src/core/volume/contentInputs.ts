/** What the files of a volume are made of, as values to compare: the same ones make the same files. */
import type { Pod } from "../api.ts";
import type { ConfigObject, ConfigObjects } from "../configObjects.ts";
import { podCertificateWishes } from "../cert/podCertificate.ts";
import { volumeReferences } from "../pod/podReferences.ts";
import type { Result } from "../result.ts";
import type { Volume } from "./volumeLayout.ts";
import type { VolumeInputs } from "./volumePlan.ts";
import { downwardText } from "./downwardText.ts";
import { anchorsWishes, tokenWishes } from "./identityFiles.ts";
import type { PayloadSources } from "./volumePayload.ts";

/** An object of a server is its version, one of a manifest itself: that is replaced and never edited. */
function contentOf(object: ConfigObject | undefined): unknown {
  const { uid, resourceVersion } = object?.metadata ?? {};
  return resourceVersion === undefined ? object : `${uid} ${resourceVersion}`;
}

/** What is known of the objects these volumes name, each as something that is equal only to itself. */
export function objectInputs(namespace: string, volumes: readonly Volume[], objects: ConfigObjects): VolumeInputs {
  return volumes.flatMap(volumeReferences).map(({ kind, name }) => {
    const object = kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name);
    return objects.problem(kind, namespace, name)?.message ?? contentOf(object);
  });
}

/** What came of it, comparable by identity. */
const told = (result: Result<unknown>): unknown => (result.ok ? result.value : result.error.message);

/** Whatever the files of a volume are made from, likewise. */
export function contentInputs(pod: Pod, volume: Volume, sources: PayloadSources): VolumeInputs {
  const { objects, allocatable } = sources;
  const read = objectInputs(pod.metadata.namespace, [volume], objects);
  const identities = [
    ...tokenWishes(pod, volume).map(sources.token),
    ...anchorsWishes(volume).map(sources.anchors),
    ...podCertificateWishes(pod, volume).map(sources.credentials),
  ].map(told);
  const items = [
    ...(volume.downwardAPI?.items ?? []),
    ...(volume.projected?.sources ?? []).flatMap(({ downwardAPI }) => downwardAPI?.items ?? []),
  ];
  const texts = items.map((item) => downwardText(pod, item, allocatable)).map(told);
  return [...read, ...identities, ...texts];
}
