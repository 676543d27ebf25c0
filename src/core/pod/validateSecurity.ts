/** Validates security contexts of containers and pods. */
import type { Container, PodSpec } from "../api.ts";
import {
  duplicate,
  type FieldProblems,
  forbidden,
  invalid,
  invalidEach,
  required,
  unsupported,
} from "./fieldProblem.ts";
import { noBacksteps, relativePath, sysctlName, unixId } from "./validateFormats.ts";

type ContainerSecurity = NonNullable<Container["securityContext"]>;
type PodSecurity = NonNullable<PodSpec["securityContext"]>;
interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const PROC_MOUNTS = ["Default", "Unmasked"];
const CHOICES: Readonly<Partial<Record<keyof PodSecurity, readonly string[]>>> = {
  fsGroupChangePolicy: ["Always", "OnRootMismatch"],
  supplementalGroupsPolicy: ["Merge", "Strict"],
  seLinuxChangePolicy: ["MountOption", "Recursive"],
};
const IPC_SYSCTL = /^(kernel[./](shm|msg|sem)|fs[./]mqueue[./])/;

function* validateId(id: number | undefined, path: string): FieldProblems {
  if (id !== undefined) yield* invalidEach(path, id, unixId(id));
}

/** Validates one container's security context. */
export function* validateContainerSecurity(
  context: ContainerSecurity | undefined,
  hostUsers: boolean,
  path: string,
): FieldProblems {
  if (context === undefined) return;
  yield* validateId(context.runAsUser, `${path}.runAsUser`);
  yield* validateId(context.runAsGroup, `${path}.runAsGroup`);
  if (context.procMount !== undefined && !PROC_MOUNTS.includes(context.procMount)) {
    yield unsupported(`${path}.procMount`, context.procMount, PROC_MOUNTS);
  }
  if (context.procMount === "Unmasked" && hostUsers) {
    yield invalid(`${path}.procMount`, context.procMount, "`hostUsers` must be false to use `Unmasked`");
  }
  yield* validateProfile(context.seccompProfile, `${path}.seccompProfile`);
  yield* validateProfile(context.appArmorProfile, `${path}.appArmorProfile`);
  if (context.allowPrivilegeEscalation !== false) return;
  const cannot = (what: string) =>
    invalid(path, { allowPrivilegeEscalation: false }, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (context.privileged === true) yield cannot("`privileged` to true");
  const added = context.capabilities?.add ?? [];
  if (added.some((capability) => capability === "CAP_SYS_ADMIN" || capability === "SYS_ADMIN")) {
    yield cannot("`capabilities.Add` CAP_SYS_ADMIN");
  }
}

/** Validates a seccomp or AppArmor profile; both follow the same rules. */
function* validateProfile(profile: Profile | undefined, path: string): FieldProblems {
  if (profile === undefined) return;
  const type = profile.type ?? "";
  const { localhostProfile } = profile;
  if (type === "") yield required(`${path}.type`, `type is required: one of ${PROFILE_TYPES.join(", ")}`);
  else if (!PROFILE_TYPES.includes(type)) yield unsupported(`${path}.type`, type, PROFILE_TYPES);
  const field = `${path}.localhostProfile`;
  if (type === "Localhost") {
    if ((localhostProfile ?? "") === "") yield required(field, "must be set when the type is Localhost");
    else
      yield* invalidEach(
        field,
        localhostProfile,
        path.endsWith("seccompProfile") ? relativePath(localhostProfile ?? "") : noBacksteps(localhostProfile ?? ""),
      );
  } else if (localhostProfile !== undefined) {
    yield invalid(field, localhostProfile, "can only be set when the type is Localhost");
  }
}

/** Validates the pod's security context and its host namespaces. */
export function* validatePodSecurity(spec: PodSpec, path: string): FieldProblems {
  const context = spec.securityContext ?? {};
  const at = `${path}.securityContext`;
  yield* validateId(context.fsGroup, `${at}.fsGroup`);
  yield* validateId(context.runAsUser, `${at}.runAsUser`);
  yield* validateId(context.runAsGroup, `${at}.runAsGroup`);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    yield* validateId(group, `${at}.supplementalGroups[${index}]`);
  }
  for (const [key, supported] of Object.entries(CHOICES)) {
    const value = context[key as keyof PodSecurity];
    if (typeof value === "string" && !supported.includes(value)) yield unsupported(`${at}.${key}`, value, supported);
  }
  yield* validateProfile(context.seccompProfile, `${at}.seccompProfile`);
  yield* validateProfile(context.appArmorProfile, `${at}.appArmorProfile`);
  yield* validateSysctls(spec, `${at}.sysctls`);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    yield invalid(`${path}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (spec.hostUsers !== false) return;
  for (const key of ["hostNetwork", "hostPID", "hostIPC"] as const) {
    if (spec[key] === true) yield forbidden(`${path}.${key}`, "when `pod.Spec.HostUsers` is false");
  }
}

function* validateSysctls(spec: PodSpec, path: string): FieldProblems {
  const seen = new Set<string>();
  for (const [index, sysctl] of (spec.securityContext?.sysctls ?? []).entries()) {
    const field = `${path}[${index}].name`;
    const name = sysctl.name ?? "";
    if (name === "") yield required(field);
    else yield* invalidEach(field, name, sysctlName(name));
    if (name !== "" && seen.has(name)) yield duplicate(field, name);
    seen.add(name);
    if (spec.hostNetwork === true && /^net[./]/.test(name)) {
      yield invalid(field, name, "may not be specified when 'hostNetwork' is true");
    }
    if (spec.hostIPC === true && IPC_SYSCTL.test(name)) {
      yield invalid(field, name, "may not be specified when 'hostIPC' is true");
    }
  }
}
