/** Allocations that an earlier kubelet made, as the first input of the registry: it knows them before it admits a pod. */
import { map, type Observable, switchMap } from "rxjs";
import { NO_ALLOCATIONS, withKeptDevices } from "../core/device/deviceAllocations.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { RegistryInput } from "../core/pod/podRegistry.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeView } from "../state/nodeState.ts";
import { readHardwareState } from "./node/hardwareState.ts";
import { restoreAllocations } from "./podWorker/restoreAllocations.ts";

/** Emits sizes, devices, CPUs and memory of the pods of earlier kubelets, once; never errors. */
export const inheritedAllocations = (
  ports: KubeletPorts,
  config: KubeletConfig,
  { deviceAllocations }: Pick<NodeView, "deviceAllocations">,
): Observable<RegistryInput> =>
  restoreAllocations(ports, config).pipe(
    switchMap((allocations) =>
      readHardwareState(ports, config).pipe(
        map((inherited) => withKeptDevices({ allocations, inherited }, deviceAllocations.value ?? NO_ALLOCATIONS)),
        map((kept) => ({ kind: "restored" as const, ...kept })),
      ),
    ),
  );
