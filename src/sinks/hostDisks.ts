/**
 * Disks of the network through sysfs and the tools of the host. A scan may take long, so child processes write to sysfs.
 * Bounds: MAX_ENTRIES per directory, TOOL_MS per tool. Stateless.
 */
import { realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { errnoOf, ioError } from "../core/ioError.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { HostDisks } from "../ports/hostDisks.ts";
import { runHostTool } from "./hostTool.ts";
import { boundedCall } from "./mounts/mountTool.ts";

const TOOL_MS = 120_000;
const MAX_ENTRIES = 65_536;

export interface HostDisksOptions {
  readonly clock: Clock;
  /** Directory in which /dev and /sys are looked up. Default: the root directory. */
  readonly root?: string;
}

/** Creates the port. */
export function createHostDisks({ clock, root = "" }: HostDisksOptions): HostDisks {
  const tool = (program: string, args: readonly string[], what: string) =>
    boundedCall(what, TOOL_MS, clock, async (signal) => {
      await runHostTool({ program, args, what, signal });
    });
  const write = (text: string, path: string) =>
    tool("sh", ["-c", 'printf %s "$1" > "$2"', "sh", text, `${root}${path}`], `write to ${path}`);
  return {
    links: (directory) => fromCall(() => sortedNames(`${root}/dev/disk/${directory}`)),
    deviceOf: (path) => fromCall(() => deviceOf(root, path)),
    multipathOf: (device) => fromCall(() => multipathOf(root, basename(device))),
    membersOf: (multipath) =>
      fromCall(async () =>
        (await sortedNames(`${root}/sys/block/${basename(multipath)}/slaves`)).map((name) => `/dev/${name}`),
      ),
    rescan: () =>
      boundedCall("scan for disks", TOOL_MS, clock, async (signal) => {
        for (const host of await sortedNames(`${root}/sys/class/scsi_host`)) {
          const scan = `${root}/sys/class/scsi_host/${host}/scan`;
          const args = ["-c", 'printf %s "$1" > "$2"', "sh", "- - -", scan];
          // Upstream ignores hosts that cannot be scanned.
          await runHostTool({ program: "sh", args, what: `scan ${host}`, signal }).catch(() => undefined);
        }
      }),
    flush: (device) => tool("blockdev", ["--flushbufs", device], `flush ${device}`),
    removeMultipath: (device) => tool("multipath", ["-f", device], `flush multipath device ${device}`),
    remove: (device) => write("1", `/sys/block/${basename(device)}/device/delete`),
  };
}

/** Returns no names for a directory that does not exist. */
async function sortedNames(path: string): Promise<readonly string[]> {
  try {
    return [...(await namesIn(path, MAX_ENTRIES))].sort();
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw ioError("list", path, thrown);
  }
}

async function deviceOf(root: string, path: string): Promise<string | undefined> {
  try {
    return (await realpath(`${root}${path}`)).slice(root.length);
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw ioError("follow", path, thrown);
  }
}

async function multipathOf(root: string, disk: string): Promise<string | undefined> {
  for (const name of await sortedNames(`${root}/sys/block`)) {
    if (!name.startsWith("dm-")) continue;
    const members = await sortedNames(join(`${root}/sys/block`, name, "slaves"));
    if (members.includes(disk)) return `/dev/${name}`;
  }
  return undefined;
}
