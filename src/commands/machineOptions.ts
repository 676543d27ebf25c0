/** Selects what `readMachine` reads of the host for a node. */
import path from "node:path";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { isAnyIp } from "../core/node/nodeAddresses.ts";

/** Returns the root directory, and the name of the node if its addresses are looked up. */
export const machineOptions = ({ flags, client }: KubeletOptions) => ({
  rootDir: path.resolve(flags.rootDir),
  machineIdFiles: flags.machineIdFile,
  bootIdFiles: flags.bootIdFile,
  ...(looksUpName(flags, client) ? { nodeName: flags.hostnameOverride } : {}),
});

/** In a cluster the addresses of the name count, unless `--node-ip` names one. */
const looksUpName = ({ nodeIp }: KubeletOptions["flags"], client: KubeletOptions["client"]): boolean =>
  client !== undefined && (nodeIp === "" || isAnyIp(nodeIp.split(",")[0]?.trim() ?? ""));
