/** Facts for the node status, read from the cells when needed. */
import { deviceAmounts, type DeviceState } from "../../core/device/deviceState.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { MachineAddresses, NodeFacts } from "../../core/node/nodeFacts.ts";
import { nodeProblems } from "../../core/node/nodeProblems.ts";
import { perObject } from "../../core/perObject.ts";
import type { RuntimeState } from "../../core/runtime/runtimeState.ts";
import { SHUTTING_DOWN } from "../../core/shutdown/shutdownTexts.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";

/**
 * Creates a reader of the facts of this node, which returns the same object while the facts are the same. The kubelet
 * starts now.
 */
export function createNodeFacts(
  state: Pick<
    NodeView,
    | ("runtimeState" | "relistedAt" | "images" | "pressures" | "shuttingDown")
    | ("addresses" | "cloudInstance" | "devices" | "volumesInUse")
  >,
  { clock, machine, csiDrivers }: Pick<KubeletPorts, "clock" | "machine" | "csiDrivers">,
  config: KubeletConfig,
): () => NodeFacts {
  const startedAt = clock.monotonicMs();
  const { nodeName, node: settings, capacity, allocatable, resyncPeriodMs } = config;
  const fixed = { name: nodeName, settings, hasCsi: csiDrivers !== undefined };
  const amounts = perObject((devices: DeviceState) => ({
    capacity: { ...capacity, ...deviceAmounts(devices).capacity },
    allocatable: { ...allocatable, ...deviceAmounts(devices).allocatable },
  }));
  const machineNow = perObject((addresses: MachineAddresses) => ({ ...machine, ...addresses }));
  let reported: NodeFacts | undefined;
  return () => {
    const { runtimeState, relistedAt, images, pressures, addresses, cloudInstance, volumesInUse } = state;
    const resources = amounts(state.devices.value);
    const facts = addresses.value === undefined ? machine : machineNow(addresses.value);
    const times = { relistedAt: relistedAt.value, resyncPeriodMs, startedAt, now: clock.monotonicMs() };
    const found = nodeProblems({ runtime: runtimeState.value, ...times });
    const problems = state.shuttingDown.value ? [...(found ?? []), SHUTTING_DOWN] : found;
    const runtime = runtimeFacts(runtimeState.value);
    const isReported =
      reported?.runtime === runtime &&
      reported.capacity === resources.capacity &&
      reported.machine === facts &&
      reported.images === images.value &&
      reported.pressures === pressures.value &&
      reported.volumesInUse === volumesInUse.value &&
      reported.cloud === cloudInstance.value &&
      sameValue(reported.problems, problems);
    if (!isReported || reported === undefined) {
      reported = {
        ...fixed,
        ...resources,
        machine: facts,
        runtime,
        problems,
        images: images.value,
        pressures: pressures.value,
        volumesInUse: volumesInUse.value,
        cloud: cloudInstance.value,
      };
    }
    return reported;
  };
}

const runtimeFacts = perObject((state: RuntimeState): NodeFacts["runtime"] => {
  const { runtimeName, runtimeVersion, handlers = [], supplementalGroupsPolicy } = state;
  return { name: runtimeName, version: runtimeVersion, handlers, supplementalGroupsPolicy };
});
