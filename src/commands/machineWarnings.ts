/** Warnings about this machine to log at start, each once. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { swapWarning } from "../core/resources/containerSwap.ts";
import type { Machine } from "../ports/host.ts";

/** Returns the warnings: settings that the machine does not support, and IDs that it does not have. */
export function machineWarnings(
  { config, flags }: Pick<KubeletOptions, "config" | "flags">,
  machine: Machine,
): readonly string[] {
  const swap = swapWarning(config.memorySwap.swapBehavior, machine);
  const missing = (what: string, flag: string, files: string): string =>
    `the machine has no ${what} ID: none of ${files} is a readable file with content (see --${flag})`;
  return [
    ...(swap === undefined ? [] : [swap]),
    ...(machine.machineId === "" ? [missing("machine", "machine-id-file", flags.machineIdFile)] : []),
    ...(machine.bootId === "" ? [missing("boot", "boot-id-file", flags.bootIdFile)] : []),
  ];
}
