/** A tree like /dev, /proc and /sys of a machine with GPUs. Its device nodes are real ones, of /dev/null, so it needs root. */
import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Whether this process may make device nodes. */
export const mayMakeNodes = process.platform === "linux" && process.getuid?.() === 0;

/** Makes a device node, below the root. */
export async function makeNode(root: string, path: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  execFileSync("mknod", ["-m", "666", join(root, path), "c", "1", "3"]);
}

/** A PCI device of the tree. */
export interface TreeDevice {
  readonly vendor: string;
  readonly driver: string;
  readonly class?: string;
  readonly numaNode?: string;
  readonly drm?: readonly string[];
  /** Number of the device node, as NVIDIA's driver tells it. */
  readonly minor?: number;
}

/** Puts a device on the PCI bus of the tree. */
export async function addPciDevice(root: string, address: string, device: TreeDevice): Promise<void> {
  const directory = join(root, "sys/bus/pci/devices", address);
  const driver = join(root, "sys/bus/pci/drivers", device.driver);
  await mkdir(driver, { recursive: true });
  await mkdir(directory, { recursive: true });
  for (const name of device.drm ?? []) await mkdir(join(directory, "drm", name), { recursive: true });
  await symlink(driver, join(directory, "driver"));
  await writeFile(join(directory, "vendor"), `${device.vendor}\n`);
  await writeFile(join(directory, "class"), `${device.class ?? "0x030200"}\n`);
  await writeFile(join(directory, "numa_node"), `${device.numaNode ?? "-1"}\n`);
  if (device.minor === undefined) return;
  const information = join(root, "proc/driver/nvidia/gpus", address);
  await mkdir(information, { recursive: true });
  await writeFile(join(information, "information"), `Model: \t\t Test\nDevice Minor: \t ${device.minor}\n`);
}

/** Takes a device off the bus. */
export const removePciDevice = (root: string, address: string): Promise<void> =>
  rm(join(root, "sys/bus/pci/devices", address), { recursive: true });
