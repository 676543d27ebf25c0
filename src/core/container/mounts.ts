/**
 * Mounts of a container, in this order: its volumes, the pod's /etc/hosts, the termination message file. Upstream:
 * makeMounts in kubelet_pods.go and in kuberuntime_container.go.
 */
import type { Container, Pod } from "../api.ts";
import { Mount, MountPropagation } from "../../gen/cri.ts";
import { etcHostsPath } from "../paths.ts";
import { perObject } from "../perObject.ts";
import { type Result, ok } from "../result.ts";
import { utf8Length } from "../utf8Length.ts";
import { containerConfigError, mountError } from "./configError.ts";
import type { NodeContext } from "./nodeContext.ts";
import { type SubPathBind, subPathBinds, subPathsOf } from "./subPaths.ts";
import { type TextBudget, textBudget } from "./textBudget.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";

type VolumeMount = NonNullable<Container["volumeMounts"]>[number];

const ETC_HOSTS = "/etc/hosts";

/** The inputs of a container's mounts. */
export interface MountsInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  /** The pod's mounted volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumeLayout>;
  /** Host path of the termination message file of this attempt. */
  readonly terminationLogPath: string;
  /** Whether the runtime supports recursive read-only mounts. */
  readonly recursiveReadOnlyMounts: boolean;
  /** The container's environment, for `subPathExpr`. */
  readonly environment: ReadonlyMap<string, string>;
  /** References of the images mounted as volumes, in the runtime's form, by volume name. */
  readonly volumeImages: ReadonlyMap<string, string>;
  /** Runtime handler of the sandbox; "" is the runtime's default. */
  readonly runtimeHandler: string;
  readonly node: Pick<NodeContext, "directories" | "selinuxEnabled">;
}

const PROPAGATION: ReadonlyMap<string, MountPropagation> = new Map([
  ["None", MountPropagation.PROPAGATION_PRIVATE],
  ["HostToContainer", MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
  ["Bidirectional", MountPropagation.PROPAGATION_BIDIRECTIONAL],
]);

/** Returns whether the mount is recursively read-only, or upstream's error text. */
function isRecursivelyReadOnly(mount: VolumeMount, isSupported: boolean): boolean | string {
  const mode = mount.recursiveReadOnly ?? "Disabled";
  if (mode === "Disabled") return false;
  const requested = `volume ${JSON.stringify(mount.name)} requested recursive read-only mode, but it is`;
  if (mount.readOnly !== true) return `${requested} not read-only`;
  const { mountPropagation = "None" } = mount;
  if (mountPropagation !== "None") {
    return `${requested} not compatible with propagation ${JSON.stringify(mountPropagation)}`;
  }
  if (mode === "IfPossible") return isSupported;
  if (mode !== "Enabled") return `unknown recursive read-only mode ${JSON.stringify(mode)}`;
  return isSupported || `${requested} not supported by the runtime`;
}

const absolute = (path: string): string => (path.startsWith("/") ? path : `/${path}`);

/** Parts of a mount that its own fields do not contain. */
interface MountParts {
  readonly bind: SubPathBind | undefined;
  readonly subPath: string;
  readonly budget: TextBudget;
}

function volumeMount(input: MountsInput, mount: VolumeMount, parts: MountParts): Result<Mount> {
  const { container, node } = input;
  const volume = input.volumes.get(mount.name);
  if (volume === undefined || volume.block !== undefined) {
    return containerConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
  }
  if (volume.image !== undefined) return imageMount(input, mount, volume.image.reference, parts);
  const recursive = isRecursivelyReadOnly(mount, input.recursiveReadOnlyMounts);
  if (typeof recursive === "string") {
    return containerConfigError(`failed to resolve recursive read-only mode: ${recursive}`);
  }
  const propagation = PROPAGATION.get(mount.mountPropagation ?? "None");
  if (propagation === undefined) {
    return containerConfigError(`invalid MountPropagation mode: "${mount.mountPropagation}"`);
  }
  return ok(
    Mount.fromPartial({
      containerPath: absolute(mount.mountPath),
      hostPath: parts.bind?.target ?? volume.path,
      readonly: mount.readOnly === true || volume.isReadOnly,
      recursiveReadOnly: recursive,
      propagation,
      selinuxRelabel: node.selinuxEnabled && volume.selinuxRelabel,
    }),
  );
}

const annotationBytes = perObject((annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(value), 0),
);

/**
 * Builds the mount of an image, which the runtime itself mounts read-only. Each mount repeats the pod's annotations.
 */
function imageMount(
  { pod, volumeImages, runtimeHandler }: MountsInput,
  mount: VolumeMount,
  reference: string,
  { subPath, budget }: MountParts,
): Result<Mount> {
  const image = volumeImages.get(mount.name);
  if (image === undefined) return mountError(pod, `volume "${mount.name}": its image was not pulled`, "Unavailable");
  const { annotations = {} } = pod.metadata;
  const taken = budget.take(`volume "${mount.name}"`, annotationBytes(annotations));
  if (!taken.ok) return taken;
  const containerPath = absolute(mount.mountPath);
  const spec = { image, userSpecifiedImage: reference, runtimeHandler, annotations };
  return ok(Mount.fromPartial({ containerPath, image: spec, imageSubPath: subPath, readonly: true }));
}

/** Returns true when the pod's hosts file is mounted: its IPs are known, or it uses the host network. */
export const needsHostsFile = (pod: Pod, podIps: readonly string[]): boolean =>
  podIps.length > 0 || (pod.spec.hostNetwork ?? false);

/**
 * Returns the mounts of a container. Errors: CreateContainerConfigError, or FailedMount when only this node cannot
 * mount them.
 */
export function containerMounts(input: MountsInput): Result<readonly Mount[]> {
  const { pod, container, podIps, node } = input;
  const binds = subPathBinds({ ...input, directories: node.directories });
  if (!binds.ok) return binds;
  const subPaths = subPathsOf(container, input.environment);
  if (!subPaths.ok) return subPaths;
  const bound = new Map(binds.value.map((bind) => [bind.index, bind]));
  const budget = textBudget(container.name, "annotations of mounted images");
  const mounts: Mount[] = [];
  for (const [index, each] of (container.volumeMounts ?? []).entries()) {
    const mount = volumeMount(input, each, { bind: bound.get(index), subPath: subPaths.value[index] ?? "", budget });
    if (!mount.ok) return mount;
    mounts.push(mount.value);
  }
  const selinuxRelabel = node.selinuxEnabled;
  const ownsEtcHosts = (container.volumeMounts ?? []).some(({ mountPath }) => mountPath === ETC_HOSTS);
  if (needsHostsFile(pod, podIps) && !ownsEtcHosts) {
    const hostPath = etcHostsPath(node.directories, pod.metadata.uid);
    mounts.push(Mount.fromPartial({ containerPath: ETC_HOSTS, hostPath, selinuxRelabel }));
  }
  if (container.terminationMessagePath) {
    const containerPath = container.terminationMessagePath;
    mounts.push(Mount.fromPartial({ containerPath, hostPath: input.terminationLogPath, selinuxRelabel }));
  }
  return ok(mounts);
}
