/** The users of plugins: each type of plugin has one handler. Upstream: PluginHandler of pkg/kubelet/pluginmanager/cache. */
import { type Observable, pairwise, startWith } from "rxjs";
import {
  pluginChanges,
  type PluginEvent,
  type PluginType,
  type RegisteredPlugin,
  type RegisteredPlugins,
} from "../../core/plugins/registeredPlugins.ts";
import { eachOf } from "../../operators/eachOf.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

/** Decides about plugins of one type. The plugins themselves are in the cell `plugins`. */
export interface PluginHandler {
  /** Returns why the plugin cannot be used, in words for the plugin; undefined accepts it. */
  refusalOf(plugin: RegisteredPlugin): string | undefined;
  /**
   * Work that must succeed before the plugin counts as registered. Its error refuses the plugin, with the error's message;
   * its deadline is that of a registration.
   */
  readonly admit?: (plugin: RegisteredPlugin) => Observable<unknown>;
}

/** Plugins of a type without a handler are refused. */
export type PluginHandlers = { readonly [Type in PluginType]?: PluginHandler };

/**
 * Emits the registrations and deregistrations of a type: at once for each registered plugin, then every change. A plugin
 * that registers again is deregistered first.
 */
export const pluginEvents = (plugins: ReadonlyCell<RegisteredPlugins>, type: PluginType): Observable<PluginEvent> =>
  plugins.changes$.pipe(
    startWith<RegisteredPlugins>(new Map()),
    pairwise(),
    eachOf(([before, now]) => pluginChanges(before, now, type)),
  );
