/** Files of flexVolume drivers: `vendor~driver/driver` in the directory of plugins. Upstream: probe.go of flexvolume. */
import { unescapePluginName } from "../paths.ts";
import { isHiddenName } from "../plugins/pluginSockets.ts";

/** The executable of a driver. */
export interface FlexExecutable {
  /** `vendor/driver`. */
  readonly driver: string;
  /** Differs after each change of the file. */
  readonly stamp: string;
}

/** Returns the name of the driver in this directory; undefined for other directories. */
export const flexDriverOf = (directory: string): string | undefined =>
  isHiddenName(directory) ? undefined : unescapePluginName(directory);

/** Returns the path of the executable, relative to the directory of all drivers. */
export function flexExecutable(driver: string): string {
  const parts = driver.split("/");
  return `${parts.join("~")}/${parts.at(-1) ?? ""}`;
}
