/**
 * The AppArmor profile of a container, and whether this node can enforce a pod's profiles. Upstream:
 * pkg/security/apparmor.
 */
import type { Container, Pod } from "../api.ts";
import { allContainers } from "../pod/containers.ts";

type AppArmorProfile = NonNullable<NonNullable<Container["securityContext"]>["appArmorProfile"]>;

const ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST_PREFIX = "localhost/";

/**
 * Returns the profile in the container's annotation, which static pods may still use, since no API server converts it
 * to the field; undefined for unknown values.
 */
function fromAnnotation(pod: Pod, containerName: string): AppArmorProfile | undefined {
  const value = pod.metadata.annotations?.[ANNOTATION_PREFIX + containerName];
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value?.startsWith(LOCALHOST_PREFIX)
    ? { type: "Localhost", localhostProfile: value.slice(LOCALHOST_PREFIX.length) }
    : undefined;
}

/**
 * Returns the profile of the container, its annotation or the pod, in this order; undefined leaves it to the runtime.
 */
export const appArmorProfile = (pod: Pod, container: Container): AppArmorProfile | undefined =>
  container.securityContext?.appArmorProfile ??
  fromAnnotation(pod, container.name) ??
  pod.spec.securityContext?.appArmorProfile;

/** Returns true when the pod or a container requests a profile other than Unconfined. */
function needsAppArmor(pod: Pod): boolean {
  const contexts = [pod.spec.securityContext, ...allContainers(pod.spec).map((each) => each.securityContext)];
  const types = contexts.flatMap((context) => context?.appArmorProfile?.type ?? []);
  if (types.some((type) => type !== "Unconfined")) return true;
  const annotations = Object.entries(pod.metadata.annotations ?? {});
  return annotations.some(([key, value]) => key.startsWith(ANNOTATION_PREFIX) && value !== "unconfined");
}

/** Returns why the pod's profiles cannot be enforced, in upstream's text; undefined when they can. */
export function appArmorFault(pod: Pod, isEnabledOnNode: boolean): string | undefined {
  if (!needsAppArmor(pod)) return undefined;
  if (!isEnabledOnNode) return "AppArmor is not enabled on the host";
  const isNameless = allContainers(pod.spec).some((container) => {
    const profile = appArmorProfile(pod, container);
    return profile?.type === "Localhost" && (profile.localhostProfile ?? "").trim() === "";
  });
  return isNameless ? 'invalid empty AppArmor profile name: "localhost/"' : undefined;
}
