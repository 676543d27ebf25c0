/** Plugins that register through sockets in a directory of the kubelet. */
import type { Observable } from "rxjs";
import type { PluginListing } from "../core/plugins/pluginSockets.ts";
import type { PluginAnswer } from "../core/plugins/registeredPlugins.ts";
import type { Call } from "./call.ts";

/** The sockets of plugins. */
export interface PluginSockets {
  /**
   * Hints that a socket may have come or gone, without naming it. Errors with a KubeletError when the watch breaks; callers
   * may resubscribe. Hints can be lost, so periodic listing is still required.
   */
  readonly changes$: Observable<unknown>;
  /** Returns the current sockets, also of nested directories. Creates the directory. */
  list(): Call<PluginListing>;
}

/** The outcome of a registration, for the plugin. */
export interface RegistrationOutcome {
  readonly pluginRegistered: boolean;
  /** Empty after a registration. */
  readonly error: string;
}

/** The registration service behind each socket. Every call has a connection and a deadline of its own. */
export interface PluginRegistration {
  getInfo(socketPath: string): Call<PluginAnswer>;
  notify(socketPath: string, outcome: RegistrationOutcome): Call<unknown>;
}

export interface Plugins {
  readonly sockets: PluginSockets;
  readonly registration: PluginRegistration;
}
