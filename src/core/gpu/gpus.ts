/**
 * GPUs of the machine that the kubelet offers without a plugin of a vendor: which PCI devices are GPUs, which device nodes
 * a container needs for one, and whether it works. Upstream: none; the GPU manager that device plugins replaced in 1.11.
 */
import type { ContainerAllocateResponse, ListAndWatchResponse } from "../../gen/devicePlugin.ts";
import { kubeletError } from "../errors.ts";
import { GrpcStatus, grpcFailureText } from "../grpcStatus.ts";
import { err, ok, type Result } from "../result.ts";

/** A vendor whose GPUs the kubelet knows. */
export interface GpuVendor {
  readonly resource: string;
  /** Id of the vendor on the PCI bus, as sysfs prints it. */
  readonly id: string;
  /** The kernel driver; a GPU with another one, such as vfio-pci, is not for containers. */
  readonly driver: string;
  /** Device nodes that each container with a GPU needs. */
  readonly required: readonly string[];
  /** Device nodes that exist with some versions and settings of the driver. */
  readonly optional: readonly string[];
}

const NVIDIA: GpuVendor = {
  resource: "nvidia.com/gpu",
  id: "0x10de",
  driver: "nvidia",
  required: ["/dev/nvidiactl"],
  optional: ["/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"],
};
const AMD: GpuVendor = {
  resource: "amd.com/gpu",
  id: "0x1002",
  driver: "amdgpu",
  required: ["/dev/kfd"],
  optional: [],
};
export const GPU_VENDORS: readonly GpuVendor[] = [NVIDIA, AMD];

/** Largest number of GPUs that are offered; further ones are ignored. */
export const MAX_GPUS = 256;
/** Reading and writing, but no creation of device nodes. */
const PERMISSIONS = "rw";
/** Display controllers, and accelerators without a display. */
const GPU_CLASS = /^0x(03|12)[0-9a-f]{4}$/;
const PCI_ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/;
const RENDER_NODE = /^renderD\d{1,4}$/;
const MINOR = /^Device Minor:\s*(\d{1,4})\s*$/m;
/** -1: the device has no place. */
const NODE_ID = /^\d{1,4}$/;
const MAX_NODE_ID = 1_023;

/** Whether the name is that of a PCI device. Ids of GPUs have this form. */
export const isPciAddress = (name: string): boolean => PCI_ADDRESS.test(name);

/** A PCI device as sysfs describes it; undefined: the file does not exist. */
export interface PciDevice {
  readonly address: string;
  readonly vendor: string | undefined;
  readonly class: string | undefined;
  /** Name of the driver that it is bound to. */
  readonly driver: string | undefined;
  readonly numaNode: string | undefined;
  /** Names below `drm`. */
  readonly drm: readonly string[];
  /** The description of NVIDIA's driver in /proc, which has the number of the device node. */
  readonly information: string | undefined;
}

/** A GPU that the kubelet offers. */
export interface Gpu {
  /** PCI address, which stays the same over restarts. */
  readonly id: string;
  readonly resource: string;
  readonly numaNode: number | undefined;
  /** Device nodes of this GPU alone. */
  readonly own: readonly string[];
  /** Device nodes that all GPUs of the vendor use. */
  readonly shared: readonly string[];
  readonly isHealthy: boolean;
}

const vendorOf = (device: Pick<PciDevice, "vendor" | "class">): GpuVendor | undefined =>
  GPU_CLASS.test(device.class ?? "") ? GPU_VENDORS.find(({ id }) => id === device.vendor) : undefined;

/** Whether a PCI device can become a GPU of the kubelet: its kind never changes. */
export const isGpu = (device: Pick<PciDevice, "vendor" | "class">): boolean => vendorOf(device) !== undefined;

/** Returns the paths of device nodes that `gpusOf` asks about. */
export const nodesToCheck = (devices: readonly PciDevice[]): readonly string[] => [
  ...GPU_VENDORS.flatMap(({ required, optional }) => [...required, ...optional]),
  ...ownNodes(devices).flatMap(({ own }) => own),
];

/** Returns the GPUs. `deviceNodes`: the paths that are character devices. */
export function gpusOf(devices: readonly PciDevice[], deviceNodes: ReadonlySet<string>): readonly Gpu[] {
  return ownNodes(devices).map(({ device, vendor, own }) => {
    const needed = [...own, ...vendor.required];
    const node = NODE_ID.test(device.numaNode ?? "") ? Number(device.numaNode) : undefined;
    return {
      id: device.address,
      resource: vendor.resource,
      numaNode: node !== undefined && node <= MAX_NODE_ID ? node : undefined,
      own,
      shared: [...vendor.required, ...vendor.optional].filter((path) => deviceNodes.has(path)),
      isHealthy: own.length > 0 && needed.every((path) => deviceNodes.has(path)),
    };
  });
}

interface OwnNodes {
  readonly device: PciDevice;
  readonly vendor: GpuVendor;
  readonly own: readonly string[];
}

function ownNodes(devices: readonly PciDevice[]): readonly OwnNodes[] {
  const found = devices
    .toSorted((a, b) => (a.address < b.address ? -1 : 1))
    .flatMap((device) => {
      const vendor = isPciAddress(device.address) ? vendorOf(device) : undefined;
      return vendor === undefined || device.driver !== vendor.driver ? [] : [{ device, vendor }];
    })
    .slice(0, MAX_GPUS);
  const nvidia = found.filter(({ vendor }) => vendor === NVIDIA);
  // The driver numbers its GPUs in the order of their addresses. Without /proc that is the best guess.
  const isKnown = nvidia.some(({ device }) => minorOf(device) !== undefined);
  return found.map(({ device, vendor }) => {
    if (vendor !== NVIDIA) return { device, vendor, own: renderNodes(device) };
    const minor = isKnown ? minorOf(device) : nvidia.findIndex((other) => other.device === device);
    return { device, vendor, own: minor === undefined ? [] : [`/dev/nvidia${minor}`] };
  });
}

function minorOf({ information }: PciDevice): number | undefined {
  const [, minor] = MINOR.exec(information ?? "") ?? [];
  return minor === undefined ? undefined : Number(minor);
}

const renderNodes = ({ drm }: PciDevice): readonly string[] =>
  drm.filter((name) => RENDER_NODE.test(name)).map((name) => `/dev/dri/${name}`);

/** Returns the GPUs with those that have vanished, which stay unhealthy: a container may have one. */
export function withVanished(before: readonly Gpu[], now: readonly Gpu[]): readonly Gpu[] {
  const present = new Set(now.map(({ id }) => id));
  const vanished = before.filter(({ id }) => !present.has(id)).map((gpu) => ({ ...gpu, isHealthy: false }));
  return vanished.length === 0 ? now : [...now, ...vanished].slice(0, MAX_GPUS);
}

/** Returns the list of a resource as a plugin lists it. */
export const gpuListing = (gpus: readonly Gpu[], resource: string): ListAndWatchResponse => ({
  devices: gpus
    .filter((gpu) => gpu.resource === resource)
    .map(({ id, isHealthy, numaNode }) => ({
      ID: id,
      health: isHealthy ? "Healthy" : "Unhealthy",
      topology: numaNode === undefined ? undefined : { nodes: [{ ID: BigInt(numaNode) }] },
    })),
});

/** Returns the settings of a container that gets these GPUs; `root`: prefix of the device nodes on the node. */
export function allocateGpus(
  gpus: readonly Gpu[],
  resource: string,
  ids: readonly string[],
  root: string,
): Result<ContainerAllocateResponse> {
  const paths = new Set<string>();
  for (const id of ids) {
    const gpu = gpus.find((each) => each.id === id && each.resource === resource);
    if (gpu === undefined || !gpu.isHealthy) {
      const details = `the GPU ${id} ${gpu === undefined ? "does not exist" : "does not work"}`;
      return err(kubeletError("Unknown", grpcFailureText({ status: GrpcStatus.unknown, details })));
    }
    for (const path of [...gpu.own, ...gpu.shared]) paths.add(path);
  }
  const devices = [...paths].map((path) => ({
    ...{ containerPath: path, hostPath: `${root}${path}`, permissions: PERMISSIONS },
  }));
  return ok({ envs: {}, mounts: [], devices, annotations: {}, cdiDevices: [] });
}
