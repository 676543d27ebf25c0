/**
 * Registration of CSI drivers: asks a driver about itself, and keeps those that are registered. Owner of the cell
 * `csiDrivers`. Bounds: one question at a time to each driver, and the deadline of a registration. Upstream:
 * RegistrationHandler of pkg/volume/csi.
 *
 *     GetInfo --> versions --> GetPluginInfo, NodeGetInfo, NodeGetCapabilities --> bounds --> cell csiDrivers
 *                                                                                               |
 *     volumeLimits --> current limit ----------------------------------------------------------->|
 *                                             CSINode, annotation and labels of the Node <------+
 *
 * Differs from upstream: a registration does not wait for the API server. CSINode and Node follow when it answers, and a
 * driver is usable meanwhile.
 */
import { catchError, ignoreElements, map, merge, type Observable, of, switchMap, tap } from "rxjs";
import type { Node } from "../../core/api.ts";
import {
  csiDriverFacts,
  type CsiDriverFacts,
  type CsiDrivers,
  topologyCollision,
} from "../../core/csi/csiDriverFacts.ts";
import { csiRefusal, csiVersionOf } from "../../core/csi/csiVersion.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { PluginEvent, RegisteredPlugin } from "../../core/plugins/registeredPlugins.ts";
import type { GetPluginInfoResponse } from "../../gen/csi.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import type { DriverLimit } from "./volumeLimits.ts";

/** Decides about CSI drivers, and remembers the facts of accepted ones. */
export interface CsiRegistration {
  refusalOf(plugin: RegisteredPlugin): string | undefined;
  admit(plugin: RegisteredPlugin): Observable<unknown>;
  /**
   * Keeps the cell while subscribed. `events$`: registrations of drivers; `limits$`: current limits of registered ones.
   * Never emits.
   */
  follow(events$: Observable<PluginEvent>, limits$: Observable<DriverLimit>): Observable<never>;
}

/** Creates the only owner of the cell. */
export function createCsiRegistration(
  { csiDrivers }: Pick<KubeletPorts, "csiDrivers">,
  node: ReadonlyCell<Node | undefined>,
  cell: Cell<CsiDrivers>,
): CsiRegistration | undefined {
  if (csiDrivers === undefined) return undefined;
  /** Facts of the drivers behind sockets, which the plugin manager bounds. */
  const bySocket = new Map<string, CsiDriverFacts>();
  const registered = (event: PluginEvent): void => {
    const { name, socket } = event.plugin;
    const facts = bySocket.get(socket.path);
    if (facts === undefined) return;
    const next = new Map(cell.value);
    if (event.kind === "registered") next.set(name, facts);
    // Another socket may have taken the name over with a higher version.
    else if (cell.value.get(name) === facts) next.delete(name);
    if (event.kind === "deregistered") bySocket.delete(socket.path);
    cell.set(next);
  };
  const limited = ({ name, endpoint, maxVolumes }: DriverLimit): void => {
    const facts = cell.value.get(name);
    if (facts?.endpoint !== endpoint || facts.maxVolumes === maxVolumes) return;
    const next = { ...facts, maxVolumes };
    for (const [path, known] of bySocket) if (known === facts) bySocket.set(path, next);
    cell.set(new Map(cell.value).set(name, next));
  };
  return {
    refusalOf: (plugin) => csiRefusal(plugin, cell.value.get(plugin.name)?.version),
    admit: (plugin) =>
      factsOf(plugin, csiDrivers).pipe(
        tap((facts) => {
          const collision = topologyCollision(facts.topology, node.value?.metadata?.labels);
          if (collision !== undefined) throw kubeletError("Conflict", collision);
          bySocket.set(plugin.socket.path, facts);
        }),
      ),
    follow: (events$, limits$) =>
      merge(events$.pipe(tap(registered)), limits$.pipe(tap(limited))).pipe(ignoreElements()),
  };
}

type Port = NonNullable<KubeletPorts["csiDrivers"]>;

/** Asks a driver about itself. Errors: the KubeletError of a call, or why the answers cannot be used. */
function factsOf({ name, endpoint, versions }: RegisteredPlugin, port: Port): Observable<CsiDriverFacts> {
  const version = csiVersionOf(versions);
  if (!version.ok) throw version.error;
  const client = port.at({ name, endpoint });
  const plugin$ = client.getPluginInfo({}).pipe(
    // Drivers without the service Identity work with upstream's kubelet, which does not ask.
    catchError((thrown: unknown): Observable<GetPluginInfoResponse | undefined> => {
      if (toKubeletError(thrown).code !== "Unimplemented") throw thrown;
      return of(undefined);
    }),
  );
  return plugin$.pipe(
    switchMap((plugin) => client.nodeGetInfo({}).pipe(map((node) => ({ plugin, node })))),
    switchMap((answers) => client.nodeGetCapabilities({}).pipe(map((capabilities) => ({ ...answers, capabilities })))),
    map((answers) => {
      const facts = csiDriverFacts({ name, endpoint, version: version.value }, answers);
      if (!facts.ok) throw facts.error;
      return facts.value;
    }),
  );
}
