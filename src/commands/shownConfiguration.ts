/** The configuration without secrets, for `/configz` and the log. */
import { encodeConfiguration } from "../core/config/encodeConfiguration.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";

/** Returns the configuration in its wire form; masks the headers of the manifest URL. */
export function shownConfiguration(
  config: KubeletConfiguration,
  isOn: (gate: string) => boolean,
): Readonly<Record<string, unknown>> {
  const headers = Object.keys(config.staticPodURLHeader).map((name) => [name, ["<masked>"]] as const);
  return encodeConfiguration({
    ...config,
    // The default depends on the gate.
    ...(isOn("NodeLogQuery") && { enableSystemLogQuery: config.enableSystemLogQuery === true }),
    staticPodURLHeader: Object.fromEntries(headers),
  });
}
