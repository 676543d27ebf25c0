/**
 * File systems of a simulated machine and their usage, by the files of the simulation and by other programs. A full
 * file system rejects writes. Owns the usage of other programs; SimFiles owns the files.
 */
import { invariant } from "../../core/invariant.ts";
import type { FileSystemUsage } from "../../ports/host.ts";
import type { Files } from "../../ports/files.ts";
import type { SimFiles } from "./simFiles.ts";

/** A file system. */
export interface SimFileSystem {
  /** Absolute path, without a trailing slash except for the root. */
  readonly mountPoint: string;
  readonly capacityBytes: number;
  readonly inodes: number;
  /** True for a file system in memory, which is empty after a reboot. */
  readonly isTmpfs?: boolean;
}

/** Usage other than the files of the simulation: logs, images, other programs. */
export interface SimFill {
  readonly bytes: number;
  readonly inodes: number;
}

export interface SimDisk {
  readonly fileSystems: readonly SimFileSystem[];
  /** Counts a file or directory of the simulation that was created, removed or changed, by the difference. */
  count(path: string, bytes: number, inodes: number): void;
  /** Sets the usage of a program; zero is equivalent to no entry. */
  fill(mountPoint: string, user: string, fill: Partial<SimFill>): void;
  usage(path: string): FileSystemUsage;
  /** Returns the device number of a path's file system. */
  device(path: string): bigint;
  /** Returns whether an operation on the files needs more space than is free. */
  isFullFor(operation: keyof Files, path: string): boolean;
}

/** More than the capacity of any disk. */
export const ALL_THERE_IS: SimFill = { bytes: Infinity, inodes: Infinity };

const ROOT_INODES = 6_553_600;
const RUN_BYTES = 2 ** 30;
const RUN_INODES = 800_000;

/** Returns a root file system of that size, and /run in memory. */
export const usualFileSystems = (rootBytes: number): readonly SimFileSystem[] => [
  { mountPoint: "/", capacityBytes: rootBytes, inodes: ROOT_INODES },
  { mountPoint: "/run", capacityBytes: RUN_BYTES, inodes: RUN_INODES, isTmpfs: true },
];

const isOn = (mountPoint: string, path: string): boolean =>
  mountPoint === "/" || path === mountPoint || path.startsWith(`${mountPoint}/`);

/** Creates the file systems; `files` returns the files that exist already. */
export function createSimDisk(fileSystems: readonly SimFileSystem[], files: () => SimFiles): SimDisk {
  const fills = new Map<string, Map<string, SimFill>>();
  const longestFirst = fileSystems.toSorted((a, b) => b.mountPoint.length - a.mountPoint.length);
  const of = (path: string): SimFileSystem => {
    const found = longestFirst.find(({ mountPoint }) => isOn(mountPoint, path));
    invariant(found !== undefined, `no file system holds ${path}`);
    return found;
  };
  const filled = ({ mountPoint }: SimFileSystem): SimFill => {
    const all = [...(fills.get(mountPoint)?.values() ?? [])];
    const sum = (what: keyof SimFill) => all.reduce((total, fill) => total + fill[what], 0);
    return { bytes: sum("bytes"), inodes: sum("inodes") };
  };
  const stored = new Map(fileSystems.map((fileSystem) => [fileSystem, { bytes: 0, inodes: 0 }]));
  const storedOn = (fileSystem: SimFileSystem): SimFill => stored.get(fileSystem) ?? { bytes: 0, inodes: 0 };
  /** Returns whether an operation needs space; creating a directory that exists needs none. */
  const takesSpace = (operation: keyof Files, path: string): boolean =>
    operation === "writeFile" ||
    operation === "createFile" ||
    operation === "replaceFile" ||
    operation === "symlink" ||
    ((operation === "makeDirectory" || operation === "createDirectory") && files().at(path)?.kind !== "directory");
  const isFull = (fileSystem: SimFileSystem): boolean => {
    const others = filled(fileSystem);
    const own = storedOn(fileSystem);
    return fileSystem.capacityBytes - others.bytes <= own.bytes || fileSystem.inodes - others.inodes <= own.inodes;
  };
  return {
    fileSystems,
    count(path, bytes, inodes) {
      const sum = stored.get(of(path));
      if (sum === undefined) return;
      sum.bytes += bytes;
      sum.inodes += inodes;
    },
    fill(mountPoint, user, { bytes = 0, inodes = 0 }) {
      invariant(of(mountPoint).mountPoint === mountPoint, `${mountPoint} is no mount point`);
      const users = fills.get(mountPoint) ?? new Map<string, SimFill>();
      users.set(user, { bytes, inodes });
      fills.set(mountPoint, users);
    },
    device: (path) => BigInt(fileSystems.indexOf(of(path))),
    usage(path) {
      const fileSystem = of(path);
      const [others, own] = [filled(fileSystem), storedOn(fileSystem)];
      const usedBytes = Math.min(fileSystem.capacityBytes, others.bytes + own.bytes);
      const usedInodes = Math.min(fileSystem.inodes, others.inodes + own.inodes);
      return {
        capacityBytes: BigInt(fileSystem.capacityBytes),
        availableBytes: BigInt(fileSystem.capacityBytes - usedBytes),
        usedBytes: BigInt(usedBytes),
        inodes: BigInt(fileSystem.inodes),
        inodesFree: BigInt(fileSystem.inodes - usedInodes),
      };
    },
    isFullFor: (operation, path) => takesSpace(operation, path) && isFull(of(path)),
  };
}
