/** Credential provider plugins, which supply registry credentials: one Call is one run of a plugin. */
import type { CredentialProvider } from "../core/image/credentialProviderConfig.ts";
import type { Call } from "./call.ts";

/** How to run a plugin; its executable is in the plugin directory. */
export type PluginCommand = Pick<CredentialProvider, "name" | "args" | "env">;

export interface CredentialPlugins {
  /**
   * Runs the plugin with `request` on standard input and returns its standard output, at most 1 MiB. Unsubscribing
   * kills it. Errors: Io when it cannot be run, prints too much or exits with a code other than 0; the message ends
   * with the tail of its standard error.
   */
  run(plugin: PluginCommand, request: string): Call<string>;
}
