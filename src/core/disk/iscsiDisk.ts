/**
 * iSCSI disks: a LUN of a target behind one portal or several; their names, their directories and the layout of their
 * volumes. Names of a pod's owner are checked here before they reach a path or a command line. Upstream: iscsi.go of
 * pkg/volume/iscsi.
 */
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import { iscsiDeviceMount } from "../paths.ts";
import { isPathSegment } from "../pathSegment.ts";
import type { SecretName } from "../volume/csiVolume.ts";
import { diskBase, diskLayout, type DiskNode, type DiskWish } from "./diskLayout.ts";

export const ISCSI_PLUGIN = "kubernetes.io/iscsi";

/** Bound on the portals of a volume; upstream has none. */
const MAX_PORTALS = 32;
/** Bound of iSCSI on the name of a target or an initiator. */
const MAX_NAME_CHARS = 223;
/** Bound of the API server. */
const MAX_LUN = 255;
const DEFAULT_PORT = "3260";

/** A disk, as upstream keeps it in iscsi.json. */
export interface IscsiDisk {
  /** Name of the volume in the pod, or of the PersistentVolume. */
  readonly volume: string;
  /** With ports; not empty. The first one names the directory. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  /** Interface of the sessions; with `initiatorName` a copy of `initIface` that is made for the volume. */
  readonly iface: string;
  readonly initIface: string;
  /** Empty: that of the interface. */
  readonly initiatorName: string;
}

/** Authentication by CHAP. */
export interface IscsiChap {
  readonly discovery: boolean;
  readonly session: boolean;
  readonly secret: SecretName;
}

/** A disk and how its target is entered. */
export interface IscsiTarget extends IscsiDisk {
  readonly chap: IscsiChap | undefined;
}

/** A volume in its pod or its PersistentVolume. */
export interface IscsiSource {
  readonly targetPortal: string;
  readonly portals?: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  readonly iscsiInterface?: string;
  readonly initiatorName?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: { readonly name?: string; readonly namespace?: string };
}

const PORTAL = /^(?:[0-9A-Za-z](?:[0-9A-Za-z.-]{0,251}[0-9A-Za-z])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const NAME =
  /^(?:iqn\.\d{4}-\d{2}\.[0-9A-Za-z][0-9A-Za-z.-]*(?::[^\s,;*&$|/\p{Cc}]+)?|eui\.[0-9A-Za-z]{16}|naa\.(?:[0-9A-Za-z]{16}|[0-9A-Za-z]{32}))$/u;
const IFACE = /^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$/;

const isName = (text: string): boolean => text.length <= MAX_NAME_CHARS && NAME.test(text);

/** Adds the default port to a portal without one. */
const withPort = (portal: string): string =>
  /^\[[^\]]*\]$/.test(portal) || !portal.includes(":") ? `${portal}:${DEFAULT_PORT}` : portal;

const isFlag = (flag: boolean | undefined): boolean => flag === true;

/** Returns the name of the interface that is made for a volume with its own initiator. */
const clonedIface = (portal: string, volume: string): string => `${portal}:${volume}`;

/** Returns whether the interface was made for the volume. */
export const isCloned = ({ initiatorName, iface, portals, volume }: IscsiDisk): boolean =>
  initiatorName !== "" && iface === clonedIface(portals[0] ?? "", volume);

/** Returns the names of the directories of a disk: that of its interface, and in it its own. */
export const iscsiDirectories = ({ portals, iqn, lun, iface }: IscsiDisk): readonly [string, string] => [
  `iface-${iface}`,
  `${portals[0] ?? ""}-${iqn}-lun-${lun}`,
];

/** Returns whether a directory is that of a disk of the target, at any portal. */
export const isDirectoryOf = (iqn: string, directory: string): boolean => {
  const end = directory.lastIndexOf("-lun-");
  return end > 0 && directory.slice(0, end).endsWith(`-${iqn}`);
};

/**
 * Returns the disk that the last two elements of a path name, as far as they tell: its portals and its interface may be more
 * than that. Undefined for any other path.
 */
export function parseIscsiDirectory(path: string): IscsiDisk | undefined {
  const [parent = "", directory = ""] = path.split("/").slice(-2);
  const [, portal = "", iqn = "", lun = ""] = /^(.+?)-((?:iqn|eui|naa)\..+)-lun-(\d{1,3})$/.exec(directory) ?? [];
  const iface = /^iface-(.+)$/.exec(parent)?.[1] ?? "";
  if (!PORTAL.test(portal) || !isName(iqn) || iface === "") return undefined;
  return { volume: "", portals: [portal], iqn, lun: Number(lun), iface, initIface: iface, initiatorName: "" };
}

/** Returns the first fault of a volume in terms of its fields. */
function faultOf(source: IscsiSource, disk: IscsiDisk): string | undefined {
  const { targetPortal, portals = [], iscsiInterface = "default", initiatorName, secretRef } = source;
  const bad = [targetPortal, ...portals].find((portal) => !PORTAL.test(portal));
  if (bad !== undefined) return `${goQuote(bad)} is not a portal: an address, or address:port`;
  if (portals.length >= MAX_PORTALS) return `it has more than ${MAX_PORTALS} portals`;
  if (!isName(source.iqn)) return `${goQuote(source.iqn)} is not the name of a target`;
  if (!Number.isInteger(disk.lun) || disk.lun < 0 || disk.lun > MAX_LUN) {
    return `the LUN ${disk.lun} is not between 0 and ${MAX_LUN}`;
  }
  if (!IFACE.test(iscsiInterface)) return `${goQuote(iscsiInterface)} is not the name of an interface`;
  if (initiatorName && !isName(initiatorName)) return `${goQuote(initiatorName)} is not the name of an initiator`;
  if ((isFlag(source.chapAuthDiscovery) || isFlag(source.chapAuthSession)) && !secretRef?.name) {
    return "CHAP enabled but secret name or namespace is empty";
  }
  return iscsiDirectories(disk).every(isPathSegment) ? undefined : "its names are too long for a path";
}

function diskOf(volume: string, source: IscsiSource): IscsiDisk {
  const { targetPortal, portals: more = [], iqn, lun = 0, iscsiInterface, initiatorName = "" } = source;
  const portals = [...new Set([targetPortal, ...more].map(withPort))];
  const initIface = iscsiInterface || "default";
  const iface = initiatorName === "" ? initIface : clonedIface(portals[0] ?? "", volume);
  return { volume, portals, iqn, lun, iface, initIface, initiatorName };
}

function chapOf(source: IscsiSource, namespace: string): IscsiChap | undefined {
  const [discovery, session] = [isFlag(source.chapAuthDiscovery), isFlag(source.chapAuthSession)];
  const { name = "", namespace: own } = source.secretRef ?? {};
  return discovery || session ? { discovery, session, secret: { name, namespace: own || namespace } } : undefined;
}

/** Returns the layout of a volume. */
export function iscsiLayout(
  pod: Pod,
  name: string,
  source: IscsiSource,
  { readOnly, mountOptions = [] }: DiskWish,
  node: DiskNode,
) {
  const disk = diskOf(name, source);
  const id = { name, plugin: ISCSI_PLUGIN, isReadOnly: readOnly ?? source.readOnly === true };
  const fault = faultOf(source, disk);
  if (fault !== undefined) {
    const error = { ...kubeletError("InvalidArgument", `iscsi: ${fault}`), step: "NewMounter initialization" };
    return { ...diskBase(pod, id, node), fault: error };
  }
  const found = {
    disk: { ...disk, chap: chapOf(source, pod.metadata.namespace) },
    volumeName: `${ISCSI_PLUGIN}/${source.targetPortal}:${disk.iqn}:${disk.lun}`,
    mountPoint: iscsiDeviceMount(node.directories, ...iscsiDirectories(disk)),
    fsType: source.fsType ?? "",
  };
  return diskLayout(pod, id, found, mountOptions, node);
}

/** Returns all names that a disk may have in the status of the Node: its pod may have left out the default port. */
export function iscsiVolumeNames({ portals, iqn, lun }: IscsiDisk): readonly string[] {
  const [portal = ""] = portals;
  const short = portal.endsWith(`:${DEFAULT_PORT}`) ? [portal.slice(0, -DEFAULT_PORT.length - 1)] : [];
  return [portal, ...short].map((each) => `${ISCSI_PLUGIN}/${each}:${iqn}:${lun}`);
}
