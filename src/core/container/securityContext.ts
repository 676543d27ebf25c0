/**
 * Security contexts in CRI messages; the container's fields override the pod's. Upstream:
 * kuberuntime/security_context.go, pkg/securitycontext.
 */
import type { Container, Pod } from "../api.ts";
import {
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  SecurityProfile,
  SecurityProfile_ProfileType,
  SupplementalGroupsPolicy,
  type UserNamespace,
} from "../../gen/cri.ts";
import { seccompProfilesDir } from "../paths.ts";
import { kubeletError } from "../errors.ts";
import { podContainers } from "../pod/containers.ts";
import { type Result, err, ok } from "../result.ts";
import { appArmorProfile } from "./appArmorProfile.ts";
import { containerConfigError, podText, sandboxConfigError } from "./configError.ts";
import { containerNamespaces, podNamespaces } from "./namespaces.ts";
import type { NodeContext } from "./nodeContext.ts";

type PodSecurityContext = NonNullable<Pod["spec"]["securityContext"]>;
type ContainerSecurityContext = NonNullable<Container["securityContext"]>;
type SecurityNode = Pick<NodeContext, "seccompDefault" | "directories" | "thermalThrottlePaths">;

/** The image's user, for a container that sets none: a number, or a name. */
export interface ImageUser {
  readonly uid: bigint | undefined;
  readonly username: string;
}

const MASKED_PATHS = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];
const READONLY_PATHS = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/** Returns the user in an image's status; root when it has none. */
export function imageUserOf(image: {
  readonly uid: { readonly value: bigint } | undefined;
  readonly username: string;
}): ImageUser {
  if (image.uid !== undefined) return { uid: image.uid.value, username: "" };
  return image.username === "" ? { uid: 0n, username: "" } : { uid: undefined, username: image.username };
}

const int64 = (value: number): { value: bigint } => ({ value: BigInt(value) });
const groups = (pod: PodSecurityContext | undefined): bigint[] =>
  [...(pod?.fsGroup === undefined ? [] : [pod.fsGroup]), ...(pod?.supplementalGroups ?? [])].map(BigInt);

/** Returns the policy of this name; undefined for an unknown name. */
const groupsPolicy = (pod: PodSecurityContext | undefined): SupplementalGroupsPolicy | undefined =>
  new Map<string, SupplementalGroupsPolicy>(Object.entries(SupplementalGroupsPolicy)).get(
    pod?.supplementalGroupsPolicy ?? "Merge",
  );

type Profile = { readonly type: string; readonly localhostProfile?: string };

/** Returns the profile; undefined when it is Localhost without a name, or of an unknown type. */
function securityProfile(profile: Profile, localhostDir: string): SecurityProfile | undefined {
  switch (profile.type) {
    case "RuntimeDefault":
      return SecurityProfile.fromPartial({ profileType: SecurityProfile_ProfileType.RuntimeDefault });
    case "Unconfined":
      return SecurityProfile.fromPartial({ profileType: SecurityProfile_ProfileType.Unconfined });
    case "Localhost":
      if (!profile.localhostProfile) return undefined;
      return SecurityProfile.fromPartial({
        profileType: SecurityProfile_ProfileType.Localhost,
        localhostRef: localhostDir + profile.localhostProfile,
      });
    default:
      return undefined;
  }
}

/** Returns the AppArmor profile in the form for runtimes without CRI's `apparmor` field. */
function legacyApparmor({ type, localhostProfile = "" }: Profile): string {
  if (type === "RuntimeDefault") return "runtime/default";
  return type === "Unconfined" ? "unconfined" : `localhost/${localhostProfile}`;
}

/** Returns the security context of a sandbox. Errors: CreatePodSandboxError. */
export function sandboxSecurityContext(pod: Pod, userNamespace: UserNamespace): Result<LinuxSandboxSecurityContext> {
  const { securityContext } = pod.spec;
  const policy = groupsPolicy(securityContext);
  if (policy === undefined) {
    return sandboxConfigError(
      pod,
      `unsupported supplementalGroupsPolicy: ${securityContext?.supplementalGroupsPolicy}`,
    );
  }
  return ok(
    LinuxSandboxSecurityContext.fromPartial({
      namespaceOptions: podNamespaces(pod, userNamespace),
      privileged: podContainers(pod.spec).some((each) => each.securityContext?.privileged ?? false),
      ...(securityContext?.runAsUser !== undefined && { runAsUser: int64(securityContext.runAsUser) }),
      ...(securityContext?.runAsGroup !== undefined && { runAsGroup: int64(securityContext.runAsGroup) }),
      supplementalGroups: groups(securityContext),
      supplementalGroupsPolicy: policy,
      ...(securityContext?.seLinuxOptions && { selinuxOptions: securityContext.seLinuxOptions }),
      seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
    }),
  );
}

/** The inputs of a container's security context. */
export interface ContainerSecurityInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly imageUser: ImageUser;
  readonly userNamespace: UserNamespace;
  /** Container whose processes an ephemeral container joins. */
  readonly targetContainerId?: string | undefined;
  readonly node: SecurityNode;
}

function seccompOf({ pod, container, node }: ContainerSecurityInput): Result<SecurityProfile> {
  const wanted = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile;
  const fallback = { type: node.seccompDefault ? "RuntimeDefault" : "Unconfined" };
  const profile = securityProfile(wanted ?? fallback, `${seccompProfilesDir(node.directories)}/`);
  if (profile !== undefined) return ok(profile);
  if (wanted?.type !== "Localhost") return containerConfigError(`unknown seccomp profile type: "${wanted?.type}"`);
  return containerConfigError("localhostProfile must be set if seccompProfile type is Localhost.");
}

interface Apparmor {
  readonly apparmor?: SecurityProfile;
  readonly apparmorProfile?: string;
}

function apparmorOf({ pod, container }: ContainerSecurityInput): Result<Apparmor> {
  const wanted = appArmorProfile(pod, container);
  if (wanted === undefined) return ok({});
  const profile = securityProfile(wanted, "");
  if (profile !== undefined) return ok({ apparmor: profile, apparmorProfile: legacyApparmor(wanted) });
  if (wanted.type === "Localhost") return containerConfigError("missing localhost apparmor profile name");
  return containerConfigError(`unknown apparmor profile type: "${wanted.type}"`);
}

/** Returns user and groups of the container's first process: from the spec, else from the image. */
function identity(own: ContainerSecurityContext, ofPod: PodSecurityContext, image: ImageUser) {
  const runAsUser = own.runAsUser ?? ofPod.runAsUser;
  const runAsGroup = own.runAsGroup ?? ofPod.runAsGroup;
  return {
    ...(runAsUser !== undefined && { runAsUser: int64(runAsUser) }),
    ...(runAsUser === undefined && image.uid !== undefined && { runAsUser: { value: image.uid } }),
    ...(runAsUser === undefined && { runAsUsername: image.username }),
    ...(runAsGroup !== undefined && { runAsGroup: int64(runAsGroup) }),
  };
}

/** Returns the security context of a container. Errors: CreateContainerConfigError. */
export function containerSecurityContext(input: ContainerSecurityInput): Result<LinuxContainerSecurityContext> {
  const { pod, container, imageUser } = input;
  const own = container.securityContext ?? {};
  const ofPod = pod.spec.securityContext ?? {};
  const seccomp = seccompOf(input);
  if (!seccomp.ok) return seccomp;
  const apparmor = apparmorOf(input);
  if (!apparmor.ok) return apparmor;
  const policy = groupsPolicy(ofPod);
  if (policy === undefined) {
    return containerConfigError(`unsupported supplementalGroupsPolicy: ${ofPod.supplementalGroupsPolicy}`);
  }
  const isUnmasked = own.procMount === "Unmasked";
  const selinux = own.seLinuxOptions ?? ofPod.seLinuxOptions;
  const { add = [], drop = [] } = own.capabilities ?? {};
  return ok(
    LinuxContainerSecurityContext.fromPartial({
      ...identity(own, ofPod, imageUser),
      ...(own.capabilities && { capabilities: { addCapabilities: add, dropCapabilities: drop } }),
      ...(selinux && { selinuxOptions: selinux }),
      ...apparmor.value,
      privileged: own.privileged ?? false,
      readonlyRootfs: own.readOnlyRootFilesystem ?? false,
      noNewPrivs: own.allowPrivilegeEscalation === false,
      namespaceOptions: containerNamespaces(pod, input.userNamespace, input.targetContainerId),
      supplementalGroups: groups(ofPod),
      supplementalGroupsPolicy: policy,
      seccomp: seccomp.value,
      maskedPaths: isUnmasked ? [] : [...MASKED_PATHS, ...input.node.thermalThrottlePaths],
      readonlyPaths: isUnmasked ? [] : READONLY_PATHS,
    }),
  );
}

/** Checks runAsNonRoot. Errors: CreateContainerConfigError when the container would, or may, run as root. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, imageUser: ImageUser): Result<void> {
  const own = container.securityContext;
  const ofPod = pod.spec.securityContext;
  if (!(own?.runAsNonRoot ?? ofPod?.runAsNonRoot)) return ok(undefined);
  const where = `(pod: "${podText(pod)}", container: ${container.name})`;
  const refuse = (why: string): Result<never> =>
    err(kubeletError("InvalidArgument", `${why} ${where}`, { reason: "CreateContainerConfigError" }));
  const runAsUser = own?.runAsUser ?? ofPod?.runAsUser;
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? refuse("container's runAsUser breaks non-root policy") : ok(undefined);
  }
  if (imageUser.uid === undefined && imageUser.username !== "") {
    const user = imageUser.username;
    return refuse(
      `container has runAsNonRoot and image has non-numeric user (${user}), cannot verify user is non-root`,
    );
  }
  return imageUser.uid === 0n ? refuse("container has runAsNonRoot and image will run as root") : ok(undefined);
}
