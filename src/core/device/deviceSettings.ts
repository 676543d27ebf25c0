/**
 * Settings that the plugins of a container's devices want for it. The first setting of a name wins, resources in the order
 * of their names. Upstream: deviceRunContainerOptions of pkg/kubelet/cm/devicemanager/pod_devices.go.
 */
import type { ContainerAllocateResponse, DeviceSpec, Mount } from "../../gen/devicePlugin.ts";

/** Additions to the config of a container. */
export interface DeviceSettings {
  readonly envs: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly DeviceSpec[];
  /** Qualified names. */
  readonly cdiDevices: readonly string[];
}

/** Merges the answers of the plugins, by resource. */
export function deviceSettings(responses: ReadonlyMap<string, ContainerAllocateResponse>): DeviceSettings {
  const ordered = [...responses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, response]) => response);
  const firsts = <T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] => {
    const found = new Map<string, T>();
    for (const item of items) if (!found.has(nameOf(item))) found.set(nameOf(item), item);
    return [...found.values()];
  };
  const texts = (field: "envs" | "annotations"): ReadonlyMap<string, string> =>
    new Map(
      firsts(
        ordered.flatMap((response) => Object.entries(response[field])),
        ([name]) => name,
      ),
    );
  const byPath = ({ containerPath }: { readonly containerPath: string }): string => containerPath;
  return {
    envs: texts("envs"),
    annotations: texts("annotations"),
    mounts: firsts(
      ordered.flatMap(({ mounts }) => mounts),
      byPath,
    ),
    devices: firsts(
      ordered.flatMap(({ devices }) => devices),
      byPath,
    ),
    cdiDevices: [...new Set(ordered.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name)))],
  };
}
