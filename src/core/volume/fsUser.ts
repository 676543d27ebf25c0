/** The user that owns the private files of a pod. Upstream: FsUserFrom of pkg/volume/util. */
import type { Pod, PodSpec } from "../api.ts";
import { perObject } from "../perObject.ts";
import { allContainers } from "../pod/containers.ts";

/** Returns the user ID that all containers share; undefined when a container sets none or two differ. */
export const fsUserOf = ({ spec }: Pick<Pod, "spec">): number | undefined => sharedUser(spec);

/** Compares the containers once per spec: each identity file of a volume has this owner. */
const sharedUser = perObject((spec: PodSpec): number | undefined => {
  const users = allContainers(spec).map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
});
