/** The user that owns the private files of a pod. Upstream: FsUserFrom of pkg/volume/util. */
import type { Pod } from "../api.ts";
import { allContainers } from "../pod/containers.ts";

/** Returns the user ID that all containers share; undefined when a container sets none or two differ. */
export function fsUserOf({ spec }: Pod): number | undefined {
  const users = allContainers(spec).map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}
