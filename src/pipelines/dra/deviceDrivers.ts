/** Follows the registered drivers. Owner of the cell `draDrivers`. */
import { EMPTY, ignoreElements, type Observable, tap } from "rxjs";
import { type DraPlugin, draServiceOf } from "../../core/dra/driverServices.ts";
import type { RegisteredPlugin, RegisteredPlugins } from "../../core/plugins/registeredPlugins.ts";
import { sameValue } from "../../core/sameValue.ts";
import { derived } from "../../operators/derived.ts";
import type { DraDriverMap } from "../../ports/draDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";

/** Decides about plugins of drivers: those whose API the kubelet does not have are refused. */
export const draPluginHandler = {
  refusalOf(plugin: RegisteredPlugin): string | undefined {
    const service = draServiceOf(draPlugin(plugin));
    return service.ok ? undefined : service.error.message;
  },
};

const draPlugin = ({ name, endpoint, versions }: RegisteredPlugin): DraPlugin => ({
  name,
  endpoint,
  services: versions,
});

/** Runs while subscribed; never emits. */
export function deviceDrivers(
  { draDrivers }: Pick<KubeletPorts, "draDrivers">,
  plugins: ReadonlyCell<RegisteredPlugins>,
  drivers: Cell<DraDriverMap>,
): Observable<never> {
  if (draDrivers === undefined) return EMPTY;
  const registered = (): readonly DraPlugin[] =>
    [...plugins.value.values()].filter(({ type }) => type === "DRAPlugin").map(draPlugin);
  return draDrivers.follow(derived([plugins.changes$], registered, sameValue)).pipe(
    tap((known) => drivers.set(known)),
    ignoreElements(),
  );
}
