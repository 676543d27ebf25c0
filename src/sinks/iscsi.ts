/**
 * The iSCSI initiator through iscsiadm and sysfs. Stateless. Bounds: ADMIN_MS per call, MAX_ENTRIES per directory. The
 * command line of a call that sets a secret has it while the call lasts, as upstream's: iscsiadm takes it no other way.
 */
import { basename } from "node:path";
import { withoutSecret } from "../core/disk/iscsiAdmin.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { readText } from "../fileSystem/readText.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { IscsiInitiator, IscsiSession } from "../ports/iscsi.ts";
import { runHostTool } from "./hostTool.ts";
import { boundedCall } from "./mounts/mountTool.ts";

/** A login to a portal that does not answer takes iscsiadm two minutes. */
const ADMIN_MS = 180_000;
const SCAN_MS = 120_000;
const MAX_ENTRIES = 65_536;

export interface IscsiOptions {
  readonly clock: Clock;
  /** Directory in which /sys is looked up. Default: the root directory. */
  readonly root?: string;
}

/** Creates the port, but for the watch of links. */
export function createIscsi({ clock, root = "" }: IscsiOptions): Omit<IscsiInitiator, "linkChanges$"> {
  const hosts = `${root}/sys/class/iscsi_host`;
  return {
    admin: (call) =>
      boundedCall("run iscsiadm", ADMIN_MS, clock, async (signal) => {
        const tool = { program: "iscsiadm", args: call.args, what: "run iscsiadm" };
        return withoutSecret(call, await runHostTool({ ...tool, statuses: "all", signal }));
      }),
    sessions: (iqn) =>
      fromCall(async () => (await sessionsIn(hosts, iqn)).map(({ path: _path, ...session }) => session)),
    devices: (iqn, lun) => fromCall(() => devicesIn(hosts, iqn, lun)),
    scan: (host, lun) =>
      boundedCall(`scan host${host}`, SCAN_MS, clock, async (signal) => {
        const place = `${root}/sys/class/scsi_host/host${host}/scan`;
        const args = ["-c", 'printf %s "$1" > "$2"', "sh", `0 0 ${lun}`, place];
        await runHostTool({ program: "sh", args, what: `scan host${host} for LUN ${lun}`, signal });
      }),
  };
}

interface FoundSession extends IscsiSession {
  readonly path: string;
}

async function sessionsIn(hosts: string, iqn: string): Promise<readonly FoundSession[]> {
  const found: FoundSession[] = [];
  for (const name of await sortedNames(hosts)) {
    const host = /^host(\d{1,9})$/.exec(name)?.[1];
    if (host === undefined) continue;
    const device = `${hosts}/${name}/device`;
    for (const session of (await sortedNames(device)).filter((each) => each.startsWith("session"))) {
      const path = `${device}/${session}`;
      const about = (file: string) => lineOf(`${path}/iscsi_session/${session}/${file}`);
      if ((await about("targetname")) !== iqn) continue;
      const [portals, iface = ""] = [await portalsOf(path), await about("ifacename")];
      found.push({ host: Number(host), portals, iface, path });
    }
  }
  return found;
}

async function portalsOf(session: string): Promise<readonly string[]> {
  const portals = new Set<string>();
  for (const name of (await sortedNames(session)).filter((each) => each.startsWith("connection"))) {
    const about = (file: string) => lineOf(`${session}/${name}/iscsi_connection/${name}/${file}`);
    for (const prefix of ["", "persistent_"]) {
      const [address = "", port = ""] = [await about(`${prefix}address`), await about(`${prefix}port`)];
      if (address !== "" && port !== "") portals.add(portalOf(address, port));
    }
  }
  return [...portals];
}

const portalOf = (address: string, port: string): string =>
  address.includes(":") && !address.startsWith("[") ? `[${address}]:${port}` : `${address}:${port}`;

async function devicesIn(hosts: string, iqn: string, wanted: number | undefined): Promise<readonly string[]> {
  const devices: string[] = [];
  for (const { host, path } of await sessionsIn(hosts, iqn)) {
    // Channel and target of iSCSI are always 0.
    const target = `${path}/target${host}:0:0`;
    const prefix = `${host}:0:0:`;
    for (const name of (await sortedNames(target)).filter((each) => each.startsWith(prefix))) {
      if (wanted !== undefined && name !== `${prefix}${wanted}`) continue;
      const [block] = await sortedNames(`${target}/${name}/block`);
      if (block !== undefined) devices.push(`/dev/${basename(block)}`);
    }
  }
  return devices;
}

/** Returns the text of a file of sysfs; undefined when it cannot be read: sessions come and go. */
async function lineOf(path: string): Promise<string | undefined> {
  return (await readText(path).catch(() => undefined))?.trim();
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
