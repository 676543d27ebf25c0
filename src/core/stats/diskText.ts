/** Parses /proc/diskstats and /proc/self/mountinfo. Upstream: fs package of cadvisor. */

/** I/O counters of a disk or partition since boot. */
export interface DiskCounters {
  /** Path as in mount tables, `/dev/vda1`. */
  readonly device: string;
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  /** Requests in progress. */
  readonly ioCurrent: number;
  readonly ioMs: number;
  readonly weightedIoMs: number;
}

/** Returns the counters by major and minor number, `254:0`. */
export function parseDiskstats(text: string): ReadonlyMap<string, DiskCounters> {
  const disks = new Map<string, DiskCounters>();
  for (const line of text.split("\n")) {
    const [major = "", minor = "", name = "", ...counts] = line.trim().split(/\s+/);
    const [reads = 0, readsMerged = 0, sectorsRead = 0, readMs = 0, writes = 0, ...rest] = counts.map(Number);
    const [writesMerged = 0, sectorsWritten = 0, writeMs = 0, ioCurrent = 0, ioMs = 0, weightedIoMs = 0] = rest;
    if (name === "") continue;
    disks.set(`${major}:${minor}`, {
      ...{ device: `/dev/${name}`, reads, readsMerged, sectorsRead, readMs },
      ...{ writes, writesMerged, sectorsWritten, writeMs, ioCurrent, ioMs, weightedIoMs },
    });
  }
  return disks;
}

/** A mounted file system. */
export interface MountedFs {
  readonly mountpoint: string;
  /** Major and minor number. */
  readonly number: string;
  /** `/dev/vda1`, or a word if there is no device. */
  readonly device: string;
}

const OCTAL = /\\(\d{3})/g;

/** Parses /proc/self/mountinfo, oldest mount first. */
export function parseMountedFs(mountinfo: string): readonly MountedFs[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , number, , mountpoint] = before.split(" ");
    const device = after.split(" ")[1];
    if (number === undefined || mountpoint === undefined || device === undefined) return [];
    const plain = mountpoint.replaceAll(OCTAL, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    return [{ mountpoint: plain, number, device }];
  });
}

/**
 * Returns the device of the file system of a path: the mount with the longest matching path, the last one if several
 * match.
 */
export function deviceAt(mounts: readonly MountedFs[], path: string): string | undefined {
  const above = mounts.filter(
    ({ mountpoint }) => mountpoint === "/" || path === mountpoint || path.startsWith(`${mountpoint}/`),
  );
  return above.reduce<MountedFs | undefined>(
    (closest, mount) => (closest && closest.mountpoint.length > mount.mountpoint.length ? closest : mount),
    undefined,
  )?.device;
}
