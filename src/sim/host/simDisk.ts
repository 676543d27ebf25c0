/**
 * File systems of a simulated machine: how full they are by the files of the simulation and by what others put there.
 * A full one refuses to write. Owns what others use; the files belong to SimFiles.
 */
import { invariant } from "../../core/invariant.ts";
import type { FileSystemUsage } from "../../ports/host.ts";
import type { Files } from "../../ports/files.ts";
import type { SimFiles } from "./simFiles.ts";

/** A file system. */
export interface SimFileSystem {
  /** Absolute, without a trailing slash but for the root. */
  readonly mountPoint: string;
  readonly capacityBytes: number;
  readonly inodes: number;
  /** In memory: empty after a reboot. */
  readonly isTmpfs?: boolean;
}

/** What is used beside the files of the simulation: logs, images, other programs. */
export interface SimFill {
  readonly bytes: number;
  readonly inodes: number;
}

export interface SimDisk {
  readonly fileSystems: readonly SimFileSystem[];
  /** A file or directory of the simulation came, went or changed: by so much. */
  count(path: string, bytes: number, inodes: number): void;
  /** Sets what someone uses; nothing is as good as its absence. */
  fill(mountPoint: string, user: string, fill: Partial<SimFill>): void;
  usage(path: string): FileSystemUsage;
  /** A number for each file system. */
  device(path: string): bigint;
  /** Whether an operation of the files needs room that there is not. */
  isFullFor(operation: keyof Files, path: string): boolean;
}

/** More than any disk has. */
export const ALL_THERE_IS: SimFill = { bytes: Infinity, inodes: Infinity };

const ROOT_INODES = 6_553_600;
const RUN_BYTES = 2 ** 30;
const RUN_INODES = 800_000;

/** A root of that size, and /run in memory. */
export const usualFileSystems = (rootBytes: number): readonly SimFileSystem[] => [
  { mountPoint: "/", capacityBytes: rootBytes, inodes: ROOT_INODES },
  { mountPoint: "/run", capacityBytes: RUN_BYTES, inodes: RUN_INODES, isTmpfs: true },
];

const isOn = (mountPoint: string, path: string): boolean =>
  mountPoint === "/" || path === mountPoint || path.startsWith(`${mountPoint}/`);

/** Makes disks; `files` is asked what is there already. */
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
  /** A directory that is there already is asked for in vain, but not refused. */
  const takesRoom = (operation: keyof Files, path: string): boolean =>
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
    isFullFor: (operation, path) => takesRoom(operation, path) && isFull(of(path)),
  };
}
