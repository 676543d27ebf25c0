/* eslint @typescript-eslint/no-deprecated: off -- old runtimes read the deprecated form of AppArmor profiles. */
import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { NODE_USER_NAMESPACE, podUserNamespace } from "../../../../src/core/container/namespaces.ts";
import type { NodeContext } from "../../../../src/core/container/nodeContext.ts";
import {
  type ImageUser,
  containerSecurityContext,
  imageUserOf,
  verifyRunAsNonRoot,
} from "../../../../src/core/container/securityContext.ts";
import {
  LinuxContainerSecurityContext,
  NamespaceMode,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
  type UserNamespace,
} from "../../../../src/gen/cri.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

type Own = NonNullable<Container["securityContext"]>;
type OfPod = NonNullable<PodSpec["securityContext"]>;
type Partially = Parameters<typeof LinuxContainerSecurityContext.fromPartial>[0];

interface Case {
  readonly own?: Own;
  readonly ofPod?: OfPod;
  readonly spec?: Partial<PodSpec>;
  readonly imageUser?: ImageUser;
  readonly userNamespace?: UserNamespace;
  readonly target?: string;
  readonly node?: Partial<NodeContext>;
}

function contextOf({ own, ofPod = {}, spec = {}, target, node = {}, ...more }: Case) {
  const { imageUser = { uid: 0n, username: "" }, userNamespace = NODE_USER_NAMESPACE } = more;
  const container = containerOf(own === undefined ? {} : { securityContext: own });
  const pod = podOf({ spec: { containers: [container], securityContext: ofPod, ...spec } });
  return containerSecurityContext({
    pod,
    container,
    imageUser,
    userNamespace,
    targetContainerId: target,
    node: nodeContextOf(node),
  });
}

/** The context of a container without a security context. */
function plain(): LinuxContainerSecurityContext {
  const result = contextOf({});
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
const ok = (more: Partially) => ({
  ok: true,
  value: LinuxContainerSecurityContext.fromPartial({ ...plain(), ...more }),
});
const userns = { usernsOptions: { mode: NamespaceMode.NODE } };

describe("containerSecurityContext", () => {
  it.each<[string, Case, Partially]>([
    [
      "the container's user and group over the pod's",
      { own: { runAsUser: 1, runAsGroup: 2 }, ofPod: { runAsUser: 3, runAsGroup: 4 } },
      { runAsUser: { value: 1n }, runAsGroup: { value: 2n } },
    ],
    [
      "the pod's user over the image's",
      { ofPod: { runAsUser: 3 }, imageUser: { uid: 7n, username: "" } },
      { runAsUser: { value: 3n } },
    ],
    ["the image's user by number", { imageUser: { uid: 7n, username: "" } }, { runAsUser: { value: 7n } }],
    [
      "the image's user by name",
      { imageUser: { uid: undefined, username: "app" } },
      { runAsUser: undefined, runAsUsername: "app" },
    ],
    [
      "fsGroup before supplemental groups",
      { ofPod: { fsGroup: 1, supplementalGroups: [2, 3], supplementalGroupsPolicy: "Strict" } },
      { supplementalGroups: [1n, 2n, 3n], supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
    ],
    [
      "nothing of what concerns Windows",
      {
        own: { windowsOptions: { runAsUserName: "Container" } },
        ofPod: { windowsOptions: { runAsUserName: "Pod", hostProcess: false } },
      },
      {},
    ],
    ["privileged", { own: { privileged: true } }, { privileged: true }],
    [
      "no new privileges only when escalation is denied",
      { own: { allowPrivilegeEscalation: true } },
      { noNewPrivs: false },
    ],
    ["an unmasked /proc", { own: { procMount: "Unmasked" } }, { maskedPaths: [], readonlyPaths: [] }],
    ["a default /proc", { own: { procMount: "Default" } }, {}],
    [
      "the heat of CPUs is hidden",
      { node: { thermalThrottlePaths: ["/sys/devices/system/cpu/cpu0/thermal_throttle"] } },
      { maskedPaths: [...plain().maskedPaths, "/sys/devices/system/cpu/cpu0/thermal_throttle"] },
    ],
    [
      "SELinux of the container over the pod's",
      { own: { seLinuxOptions: { level: "s1" } }, ofPod: { seLinuxOptions: { level: "s0", user: "u" } } },
      { selinuxOptions: { level: "s1" } },
    ],
    [
      "seccomp of the pod",
      { ofPod: { seccompProfile: { type: "RuntimeDefault" } } },
      { seccomp: { profileType: ProfileType.RuntimeDefault } },
    ],
    [
      "seccomp of the container over it, local profiles below the root directory",
      {
        own: { seccompProfile: { type: "Localhost", localhostProfile: "a/b.json" } },
        ofPod: { seccompProfile: { type: "RuntimeDefault" } },
      },
      { seccomp: { profileType: ProfileType.Localhost, localhostRef: "/var/lib/kubelet/seccomp/a/b.json" } },
    ],
    [
      "seccomp by default when the node says so",
      { node: { seccompDefault: true } },
      { seccomp: { profileType: ProfileType.RuntimeDefault } },
    ],
    [
      "unconfined in spite of the node",
      { own: { seccompProfile: { type: "Unconfined" } }, node: { seccompDefault: true } },
      {},
    ],
    [
      "AppArmor in both of its forms",
      { own: { appArmorProfile: { type: "Localhost", localhostProfile: "mine" } } },
      { apparmor: { profileType: ProfileType.Localhost, localhostRef: "mine" }, apparmorProfile: "localhost/mine" },
    ],
    [
      "AppArmor of the pod",
      { ofPod: { appArmorProfile: { type: "RuntimeDefault" } } },
      { apparmor: { profileType: ProfileType.RuntimeDefault }, apparmorProfile: "runtime/default" },
    ],
    [
      "AppArmor turned off",
      { ofPod: { appArmorProfile: { type: "Unconfined" } } },
      { apparmor: { profileType: ProfileType.Unconfined }, apparmorProfile: "unconfined" },
    ],
    [
      "its own user IDs",
      { userNamespace: podUserNamespace({ firstId: 131_072, length: 65_536 }) },
      {
        namespaceOptions: {
          pid: NamespaceMode.CONTAINER,
          usernsOptions: {
            mode: NamespaceMode.POD,
            uids: [{ hostId: 131_072, containerId: 0, length: 65_536 }],
            gids: [{ hostId: 131_072, containerId: 0, length: 65_536 }],
          },
        },
      },
    ],
    [
      "the target's processes for an ephemeral container",
      { target: "abc" },
      { namespaceOptions: { pid: NamespaceMode.TARGET, targetId: "abc", ...userns } },
    ],
    [
      "the pod's processes in spite of a target when the pod shares them",
      { target: "abc", spec: { shareProcessNamespace: true } },
      { namespaceOptions: { pid: NamespaceMode.POD, ...userns } },
    ],
  ])("%s", (_, given, expected) => {
    expect(contextOf(given)).toEqual(ok(expected));
  });

  it.each<[Case, string]>([
    [
      { own: { seccompProfile: { type: "Localhost" } } },
      "localhostProfile must be set if seccompProfile type is Localhost.",
    ],
    [{ own: { seccompProfile: { type: "Odd" } } }, 'unknown seccomp profile type: "Odd"'],
    [{ own: { appArmorProfile: { type: "Localhost" } } }, "missing localhost apparmor profile name"],
    [{ own: { appArmorProfile: { type: "Odd" } } }, 'unknown apparmor profile type: "Odd"'],
    [{ ofPod: { supplementalGroupsPolicy: "Odd" } }, "unsupported supplementalGroupsPolicy: Odd"],
  ])("rejects %j", (given, why) => {
    expect(contextOf(given)).toEqual({
      ok: false,
      error: {
        code: "InvalidArgument",
        reason: "CreateContainerConfigError",
        message: why,
        retryable: false,
      },
    });
  });
});

describe("imageUserOf", () => {
  it("returns the number, else the name, else root", () => {
    expect([
      imageUserOf({ uid: { value: 5n }, username: "x" }),
      imageUserOf({ uid: undefined, username: "x" }),
      imageUserOf({ uid: undefined, username: "" }),
    ]).toEqual([
      { uid: 5n, username: "" },
      { uid: undefined, username: "x" },
      { uid: 0n, username: "" },
    ]);
  });
});

describe("verifyRunAsNonRoot", () => {
  const verify = (own: Own, ofPod: OfPod, imageUser: ImageUser) => {
    const container = containerOf({ securityContext: own });
    const result = verifyRunAsNonRoot(podOf({ spec: { securityContext: ofPod } }), container, imageUser);
    return result.ok ? "ok" : result.error.message;
  };
  const WHERE = '(pod: "plain_demo(uid-1)", container: main)';
  const root = { uid: 0n, username: "" };
  const named = { uid: undefined, username: "app" };

  it.each<[Own, OfPod, ImageUser, string]>([
    [{}, {}, root, "ok"],
    [{ runAsNonRoot: false }, { runAsNonRoot: true }, root, "ok"],
    [{}, { runAsNonRoot: true }, root, `container has runAsNonRoot and image will run as root ${WHERE}`],
    [{ runAsNonRoot: true }, {}, { uid: 5n, username: "" }, "ok"],
    [{ runAsNonRoot: true }, { runAsUser: 5 }, root, "ok"],
    [
      { runAsNonRoot: true, runAsUser: 0 },
      { runAsUser: 5 },
      named,
      `container's runAsUser breaks non-root policy ${WHERE}`,
    ],
    [
      { runAsNonRoot: true },
      {},
      named,
      `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${WHERE}`,
    ],
  ])("runAsNonRoot, case %#", (own, ofPod, imageUser, expected) => {
    expect(verify(own, ofPod, imageUser)).toBe(expected);
  });
});
