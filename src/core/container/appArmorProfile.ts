/**
 * The AppArmor profile of a container, and whether a pod can have its profiles on this node. Counterpart:
 * pkg/security/apparmor.
 */
import type { Container, Pod } from "../api.ts";

type AppArmorProfile = NonNullable<NonNullable<Container["securityContext"]>["appArmorProfile"]>;

const ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST_PREFIX = "localhost/";

/** Static pods may still say it by annotation, which nobody made into a field; an unknown value says nothing. */
function fromAnnotation(pod: Pod, containerName: string): AppArmorProfile | undefined {
  const value = pod.metadata.annotations?.[ANNOTATION_PREFIX + containerName];
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value?.startsWith(LOCALHOST_PREFIX)
    ? { type: "Localhost", localhostProfile: value.slice(LOCALHOST_PREFIX.length) }
    : undefined;
}

/** The container's own profile, else its annotation's, else the pod's; undefined leaves it to the runtime. */
export const appArmorProfile = (pod: Pod, container: Container): AppArmorProfile | undefined =>
  container.securityContext?.appArmorProfile ??
  fromAnnotation(pod, container.name) ??
  pod.spec.securityContext?.appArmorProfile;

function allContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** True when anything in the pod asks for a profile other than Unconfined. */
function needsAppArmor(pod: Pod): boolean {
  const contexts = [pod.spec.securityContext, ...allContainers(pod).map((each) => each.securityContext)];
  const types = contexts.flatMap((context) => context?.appArmorProfile?.type ?? []);
  if (types.some((type) => type !== "Unconfined")) return true;
  const annotations = Object.entries(pod.metadata.annotations ?? {});
  return annotations.some(([key, value]) => key.startsWith(ANNOTATION_PREFIX) && value !== "unconfined");
}

/** Why the pod's profiles cannot be enforced, in upstream's words; undefined when they can or there are none. */
export function appArmorFault(pod: Pod, isEnabledOnNode: boolean): string | undefined {
  if (!needsAppArmor(pod)) return undefined;
  if (!isEnabledOnNode) return "AppArmor is not enabled on the host";
  const isNameless = allContainers(pod).some((container) => {
    const profile = appArmorProfile(pod, container);
    return profile?.type === "Localhost" && (profile.localhostProfile ?? "").trim() === "";
  });
  return isNameless ? 'invalid empty AppArmor profile name: "localhost/"' : undefined;
}
