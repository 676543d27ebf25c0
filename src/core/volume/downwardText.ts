/** Content of downward API files. Upstream: CollectData of pkg/volume/downwardapi. */
import type { Pod } from "../api.ts";
import { containersByName, podFieldText, resourceFieldText } from "../container/fieldRef.ts";
import { kubeletError } from "../errors.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { err, ok, type Result } from "../result.ts";
import type { Volume } from "./volumeLayout.ts";

export type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];

const refuse = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "FailedMount" }));

/** Returns a key that files with the same reference share. */
export const downwardKey = ({ fieldRef, resourceFieldRef }: DownwardFile): string => {
  const { containerName = "", resource = "", divisor = "" } = resourceFieldRef ?? {};
  return JSON.stringify(fieldRef === undefined ? [containerName, resource, divisor] : fieldRef.fieldPath);
};

/** Returns the content, or upstream's error. A missing container limit defaults to the node's allocatable. */
export function downwardText(pod: Pod, file: DownwardFile, allocatable: ResourceAmounts): Result<string> {
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    const text = podFieldText(pod, fieldRef.fieldPath, { podIps: [], nodeIps: [] });
    return text === undefined ? refuse(`unsupported fieldPath: ${fieldRef.fieldPath}`) : ok(text);
  }
  if (resourceFieldRef === undefined) return ok("");
  const { containerName = "", resource } = resourceFieldRef;
  const container = containersByName(pod.spec).get(containerName);
  if (container === undefined) return refuse(`container ${containerName} not found`);
  const text = resourceFieldText(pod, container, resourceFieldRef, allocatable);
  return text === undefined ? refuse(`unsupported container resource : ${resource}`) : ok(text);
}
