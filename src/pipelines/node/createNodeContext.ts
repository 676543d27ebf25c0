/** Facts of the node for CRI configs, volumes and admission, combined once from configuration and machine. */
import { type Observable, share, skip } from "rxjs";
import { admitPod, effectiveMaxPods } from "../../core/admission/admit.ts";
import type { Node } from "../../core/api.ts";
import { infeasibleResize } from "../../core/allocation/infeasibleResize.ts";
import type { ResizeRules } from "../../core/allocation/pendingResizes.ts";
import type { NodeContext } from "../../core/container/nodeContext.ts";
import { admissibleDevices } from "../../core/device/deviceState.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { hostIpUnknown, nodeHostIps, ownIps } from "../../core/node/hostIps.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import { admissibleResources } from "../../core/node/nodeResources.ts";
import type { Registry } from "../../core/pod/podRegistryTypes.ts";
import { isRestored } from "../../core/pod/restoredMark.ts";
import { safeSysctls, sysctlAllowlist } from "../../core/pod/sysctls.ts";
import { sameItems } from "../../core/sameValue.ts";
import { commonCpusText } from "../../core/topology/nodeHardware.ts";
import type { VolumeNode } from "../../core/volume/volumeLayout.ts";
import { derived } from "../../operators/derived.ts";
import type { Machine } from "../../ports/host.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { NodeView } from "../../state/nodeState.ts";

/** The cells with the node's addresses. */
export interface AddressCells {
  readonly node: ReadonlyCell<Node | undefined>;
  readonly addresses: ReadonlyCell<MachineAddresses | undefined>;
}

type NodeCells = AddressCells & { readonly registry: ReadonlyCell<Registry> };

/** Facts of the node for CRI configs. Addresses and shared CPUs are evaluated whenever they are read. */
export const nodeContext = (
  config: KubeletConfig,
  machine: Machine,
  { node, addresses, registry }: NodeCells,
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
  get sharedCpus() {
    return config.hardware === undefined ? "" : commonCpusText(config.hardware, registry.value);
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
  derived([node.changes$, addresses.changes$], () => context.nodeIps, sameItems).pipe(skip(1), share());

/** Facts of the node for volumes. */
export function volumeNode(
  { directories, allocatable, nodeName, labelsAllAccessModes: allModes }: KubeletConfig,
  { tmpfsNoSwap, selinuxEnabled, selinuxFileLabel }: Machine,
  node: ReadonlyCell<Node | undefined>,
  hasCsi: boolean,
): VolumeNode {
  return {
    directories,
    allocatable,
    hasNoSwap: tmpfsNoSwap,
    ...(hasCsi && { csi: { nodeName } }),
    selinuxEnabled,
    selinux: selinuxFileLabel === undefined ? undefined : { allModes, fileLabel: selinuxFileLabel },
    get labels() {
      return node.value && (node.value.metadata?.labels ?? {});
    },
  };
}

/** Admission of pods, and of their resizes, to this node. */
export function nodeAdmission(
  config: KubeletConfig,
  machine: Machine,
  state: Pick<NodeView, "runtimeState" | "node" | "pressures" | "shuttingDown" | "devices">,
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
        // The API server chose the node for a pod from disk, and cannot tell its labels now.
        labels: state.node.value?.metadata?.labels ?? (isRestored(pod) ? undefined : config.nodeLabels),
        taints: state.node.value?.spec?.taints ?? [],
        os,
        supplementalGroupsPolicy: state.runtimeState.value.supplementalGroupsPolicy === true,
        sysctls,
        pressures: state.pressures.value,
        shuttingDown: state.shuttingDown.value,
        declaredFeatures: config.node.declaredFeatures,
        podLevelResources: config.allowsPodLevelResources,
        appArmor: os === "linux" ? appArmorEnabled : undefined,
      },
      allocatable: admissibleDevices(admissibleResources(config.allocatable, state.node.value), state.devices.value),
      maxPods,
    });
  const parts = config.resizableParts;
  return { parts, admit, infeasible: (desired, allocated) => infeasibleResize(desired, allocated, config) };
}
