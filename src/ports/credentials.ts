/** The programs that know credentials of registries: one Call is one run. */
import type { CredentialProvider } from "../core/image/credentialProviderConfig.ts";
import type { Call } from "./call.ts";

/** How a plugin is run; its program is in the directory of plugins. */
export type PluginCommand = Pick<CredentialProvider, "name" | "args" | "env">;

export interface CredentialPlugins {
  /**
   * What the plugin printed, at most 1 MiB, when told `request` on its standard input; unsubscribing kills it. Errors:
   * Io when it cannot be run, prints too much or ends with another code than 0, with the end of what it complained.
   */
  run(plugin: PluginCommand, request: string): Call<string>;
}
