/** Facts of the node for CRI configs, volumes and admission, combined once from configuration and machine. */
import { distinctUntilChanged, map, type Observable, share, skip } from "rxjs";
import { admitPod, effectiveMaxPods } from "../../core/admission/admit.ts";
import type { Node } from "../../core/api.ts";
import { infeasibleResize } from "../../core/allocation/infeasibleResize.ts";
import type { ResizeRules } from "../../core/allocation/pendingResizes.ts";
import type { NodeContext } from "../../core/container/nodeContext.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { hostIpUnknown, nodeHostIps, ownIps } from "../../core/node/hostIps.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import { admissibleResources } from "../../core/node/nodeResources.ts";
import { safeSysctls, sysctlAllowlist } from "../../core/pod/sysctls.ts";
import { sameItems } from "../../core/sameValue.ts";
import type { VolumeNode } from "../../core/volume/volumeLayout.ts";
import { canKeepOutOfSwap } from "../../core/volume/tmpfsSwap.ts";
import { whenever } from "../../operators/whenever.ts";
import type { Machine } from "../../ports/host.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { NodeView } from "../../state/nodeState.ts";

/** The cells with the node's addresses. */
export interface AddressCells {
  readonly node: ReadonlyCell<Node | undefined>;
  readonly addresses: ReadonlyCell<MachineAddresses | undefined>;
}

/** Facts of the node for CRI configs. Addresses are evaluated whenever they are read. */
export const nodeContext = (
  config: KubeletConfig,
  machine: Machine,
  { node, addresses }: AddressCells,
  isStandalone: boolean,
): NodeContext => ({
  ...config,
  isStandalone,
  get nodeIps() {
    if (node.value !== undefined) return nodeHostIps(node.value);
    return addresses.value === undefined ? config.nodeIps : ownIps(config.node, addresses.value, isStandalone);
  },
  get hostIpUnknown() {
    return hostIpUnknown(node.value, config.node);
  },
  cgroupVersion: machine.cgroupVersion ?? 2,
  swapControllerAvailable: machine.swapControllerAvailable,
  memoryBytes: machine.memoryBytes,
  hugepageSizes: machine.hugepages.map(({ unit }) => unit),
  selinuxEnabled: machine.selinuxEnabled,
  thermalThrottlePaths: machine.thermalThrottlePaths,
});

/** Emits when its addresses change: evaluated once for all pods. */
export const readdressed = (context: NodeContext, { node, addresses }: AddressCells): Observable<unknown> =>
  whenever(node.changes$, addresses.changes$).pipe(
    map(() => context.nodeIps),
    distinctUntilChanged(sameItems),
    skip(1),
    share(),
  );

/** Facts of the node for volumes. */
export function volumeNode(
  { directories, allocatable }: KubeletConfig,
  { kernelVersion }: Machine,
  node: ReadonlyCell<Node | undefined>,
): VolumeNode {
  return {
    directories,
    allocatable,
    hasNoSwap: canKeepOutOfSwap(kernelVersion),
    get labels() {
      return node.value && (node.value.metadata?.labels ?? {});
    },
  };
}

/** Admission of pods, and of their resizes, to this node. */
export function nodeAdmission(
  config: KubeletConfig,
  machine: Machine,
  state: Pick<NodeView, "runtimeState" | "node" | "pressures">,
): ResizeRules {
  const { operatingSystem: os, kernelVersion, appArmorEnabled } = machine;
  const sysctls = sysctlAllowlist([...safeSysctls(os, kernelVersion), ...config.allowedUnsafeSysctls]);
  const maxPods = effectiveMaxPods(config.maxPods, config.podsPerCore, machine.cpuCount);
  const admit: ResizeRules["admit"] = (pod, activePods) =>
    admitPod({
      pod,
      activePods,
      node: {
        name: config.nodeName,
        labels: state.node.value?.metadata?.labels ?? config.nodeLabels,
        taints: state.node.value?.spec?.taints ?? [],
        os,
        supplementalGroupsPolicy: state.runtimeState.value.supplementalGroupsPolicy === true,
        sysctls,
        pressures: state.pressures.value,
        declaredFeatures: config.node.declaredFeatures,
        podLevelResources: config.allowsPodLevelResources,
        appArmor: os === "linux" ? appArmorEnabled : undefined,
      },
      allocatable: admissibleResources(config.allocatable, state.node.value),
      maxPods,
    });
  const parts = config.resizableParts;
  return { parts, admit, infeasible: (desired, allocated) => infeasibleResize(desired, allocated, config) };
}
