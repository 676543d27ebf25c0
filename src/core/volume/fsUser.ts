/** The one user all containers of a pod run as. Counterpart: FsUserFrom of pkg/volume/util. */
import type { Pod } from "../api.ts";

/** The user id; undefined when a container names none, or two containers name different ones. */
export function fsUserOf({ spec }: Pod): number | undefined {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const users = [...initContainers, ...containers, ...ephemeralContainers].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}
