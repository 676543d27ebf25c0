/** Builds the view of the node's hardware from the records of the pods. Holds no state. */
import type { DeviceState } from "../device/deviceState.ts";
import type { ClaimInfos } from "../dra/claimInfo.ts";
import type { EpochMs, PodUid } from "../ids.ts";
import { sizeOf } from "../pod/podRecord.ts";
import type { Registry } from "../pod/podRegistryTypes.ts";
import { formatInstantMs } from "../time/civilTime.ts";
import { hardwareByPod, type NodeHardware, type NodeTopology } from "../topology/nodeHardware.ts";
import { claimViews, deviceViews } from "./deviceViews.ts";
import type { HardwareView } from "./hardwareView.ts";
import { cpusView, type MachineHardware, numaNodeViews, type OwnedHardware } from "./machineView.ts";

/** State of the node that the view shows. */
export interface HardwareViewInput {
  readonly now: EpochMs;
  readonly machine: MachineHardware;
  /** undefined: no container gets CPUs or memory for itself. */
  readonly hardware: NodeHardware | undefined;
  readonly topology: NodeTopology | undefined;
  readonly registry: Registry;
  readonly devices: DeviceState;
  readonly claims: ClaimInfos;
  readonly hasExtendedClaims: boolean;
  /** Names of pods that no source has claimed yet; undefined if the runtime does not list them either. */
  readonly nameOf: (uid: PodUid) => { readonly namespace: string; readonly name: string } | undefined;
}

/** Returns the view. */
export function nodeHardwareView(input: HardwareViewInput): HardwareView {
  const { now, machine, hardware, topology, registry, devices, claims, hasExtendedClaims } = input;
  const owned = ownedHardware(input);
  const cpus = cpusView(machine, hardware?.cpus, owned);
  const pods = [...registry.records.values()].flatMap((record) => sizeOf(record) ?? []);
  return {
    at: formatInstantMs(now),
    policies: {
      cpu: hardware?.cpus === undefined ? "none" : "static",
      memory: hardware?.memory === undefined ? "None" : "Static",
      topology: topology?.policy.name ?? "none",
      scope: topology?.policy.scope ?? "container",
    },
    ...(cpus && { cpus }),
    nodes: numaNodeViews(machine, hardware?.memory, owned),
    devices: deviceViews(devices, owned),
    claims: claimViews(claims, pods, hasExtendedClaims),
  };
}

/** Returns the containers that have hardware, also those of pods from before a restart that no source has claimed yet. */
function ownedHardware({ registry, nameOf }: HardwareViewInput): readonly OwnedHardware[] {
  return [...hardwareByPod(registry)].flatMap(([uid, containers]) => {
    const known = registry.records.get(uid)?.identity ?? nameOf(uid) ?? { namespace: "", name: `UID ${uid}` };
    return [...containers].flatMap(([container, hardware]): readonly OwnedHardware[] =>
      hardware.cpus === undefined && hardware.memory === undefined && hardware.devices === undefined
        ? []
        : [{ namespace: known.namespace, pod: known.name, container, hardware }],
    );
  });
}
