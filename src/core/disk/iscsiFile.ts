/** The file iscsi.json in the directory of an iSCSI disk, in upstream's format, so that either kubelet logs out. */
import { goJson } from "../container/goJson.ts";
import { type IscsiDisk, iscsiDirectories, parseIscsiDirectory } from "./iscsiDisk.ts";

/** Name of the file. The mount of the disk covers it. */
export const ISCSI_FILE = "iscsi.json";

/** Returns the content of the file. It has no secrets. */
export const iscsiFile = ({ volume, portals, iqn, lun, iface, initIface, initiatorName }: IscsiDisk): string =>
  `${goJson({
    ...{ VolName: volume, Portals: portals, Iqn: iqn, Lun: String(lun), InitIface: initIface, Iface: iface },
    ...{ InitiatorName: initiatorName, MetricsProvider: null },
  })}\n`;

/**
 * Returns the disk of a directory, by its file if that is intact and belongs there, else by the path alone, as upstream.
 * Undefined: the directory is not that of a disk.
 */
export function iscsiDiskAt(path: string, text: string | undefined): IscsiDisk | undefined {
  const named = parseIscsiDirectory(path);
  const found = text === undefined ? undefined : parse(text);
  if (named === undefined || found === undefined) return named;
  const [iface, directory] = iscsiDirectories(found);
  const isOwn = path.endsWith(`/${iface}/${directory}`) && found.portals.every(isPortal);
  return isOwn ? found : named;
}

const isPortal = (portal: string): boolean => /^[0-9A-Za-z[][0-9A-Za-z.:[\]-]*$/.test(portal);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function parse(text: string): IscsiDisk | undefined {
  let file: Readonly<Record<string, unknown>>;
  try {
    file = { ...(JSON.parse(text) as object) };
  } catch {
    return undefined;
  }
  // Older kubelets of upstream wrote `lun`.
  const lun = textOf(file["Lun"] ?? file["lun"]);
  const portals = Array.isArray(file["Portals"]) ? file["Portals"].filter((each) => typeof each === "string") : [];
  if (!/^\d{1,3}$/.test(lun) || portals.length === 0) return undefined;
  const iface = textOf(file["Iface"]);
  return {
    volume: textOf(file["VolName"]),
    portals: [...new Set(portals)],
    iqn: textOf(file["Iqn"]),
    lun: Number(lun),
    iface,
    initIface: textOf(file["InitIface"]) || iface,
    initiatorName: textOf(file["InitiatorName"]),
  };
}
