/** Security contexts of CRI as options of Docker. Pure; the texts of seccomp profiles are read by the caller. */
import { status } from "@grpc/grpc-js";
import { SecurityProfile_ProfileType as ProfileType, SupplementalGroupsPolicy } from "../../gen/cri.ts";
import type { LinuxContainerSecurityContext, SecurityProfile, SELinuxOption } from "../../gen/cri.ts";
import { invalidArgument, RpcFault } from "../../grpcServer/rpcFault.ts";

/** Refuses, by name, what Docker cannot do. */
export const cannot = (what: string): RpcFault => new RpcFault(status.UNIMPLEMENTED, `Docker cannot do this: ${what}`);

/** The user of a container as Docker writes it: `user`, `uid` or either with `:gid`; undefined for the image's. */
export function userOf(
  context: Pick<LinuxContainerSecurityContext, "runAsUser" | "runAsGroup"> & { readonly runAsUsername?: string },
): string | undefined {
  const { runAsUser, runAsUsername = "", runAsGroup } = context;
  const user = runAsUsername === "" ? runAsUser?.value.toString() : runAsUsername;
  if (runAsGroup === undefined) return user;
  if (user === undefined) throw invalidArgument("run_as_group", "is specified without a run_as_user");
  return `${user}:${runAsGroup.value}`;
}

type Contexts = Pick<
  LinuxContainerSecurityContext,
  | "privileged"
  | "readonlyRootfs"
  | "supplementalGroups"
  | "supplementalGroupsPolicy"
  | "selinuxOptions"
  | "seccomp"
  | "apparmor"
>;

/** The part of a HostConfig that sandboxes and containers share. */
export interface SecurityPart {
  readonly Privileged: boolean;
  readonly ReadonlyRootfs: boolean;
  readonly GroupAdd: readonly string[];
  readonly SecurityOpt: readonly string[];
}

/** Maps a context; `seccompText` is the profile of a file. Throws UNIMPLEMENTED for what Docker cannot do. */
export function securityPart(context: Contexts, seccompText: string | undefined): SecurityPart {
  if (context.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict) {
    throw cannot("supplemental groups alone (supplementalGroupsPolicy Strict): it adds those of the image");
  }
  return {
    Privileged: context.privileged,
    ReadonlyRootfs: context.readonlyRootfs,
    GroupAdd: context.supplementalGroups.map(String),
    SecurityOpt: [
      ...seLinux(context.selinuxOptions),
      ...appArmor(context.apparmor),
      ...seccomp(context.seccomp, context.privileged, seccompText),
    ],
  };
}

function seLinux(options: SELinuxOption | undefined): readonly string[] {
  if (options === undefined) return [];
  const { user, role, type, level } = options;
  return Object.entries({ user, role, type, level }).flatMap(([key, value]) =>
    value === "" ? [] : [`label=${key}:${value}`],
  );
}

function appArmor(profile: SecurityProfile | undefined): readonly string[] {
  switch (profile?.profileType) {
    case ProfileType.Unconfined:
      return ["apparmor=unconfined"];
    case ProfileType.Localhost:
      return [`apparmor=${profile.localhostRef.replace(/^localhost\//, "")}`];
    default:
      return [];
  }
}

/** No profile means no filter, as in CRI; Docker gives privileged containers none anyway. */
function seccomp(
  profile: SecurityProfile | undefined,
  privileged: boolean,
  text: string | undefined,
): readonly string[] {
  if (profile?.profileType === ProfileType.RuntimeDefault) return [];
  if (profile?.profileType === ProfileType.Localhost) {
    if (text === undefined) throw invalidArgument("seccomp.localhost_ref", "the profile was not read");
    return privileged ? [] : [`seccomp=${text}`];
  }
  return ["seccomp=unconfined"];
}

/** The part of a HostConfig that only containers have. */
export function containerSecurityPart(
  context: LinuxContainerSecurityContext,
  seccompText: string | undefined,
): Record<string, unknown> {
  const { capabilities, noNewPrivs, privileged, maskedPaths, readonlyPaths } = context;
  if ((capabilities?.addAmbientCapabilities.length ?? 0) > 0) throw cannot("ambient capabilities");
  const part = securityPart(context, seccompText);
  return {
    ...part,
    SecurityOpt: [...part.SecurityOpt, ...(noNewPrivs ? ["no-new-privileges"] : [])],
    CapAdd: capabilities?.addCapabilities ?? [],
    CapDrop: capabilities?.dropCapabilities ?? [],
    ...(privileged ? {} : { MaskedPaths: maskedPaths, ReadonlyPaths: readonlyPaths }),
  };
}
