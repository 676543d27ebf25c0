/** Drivers of Dynamic Resource Allocation, as plugins that have registered with this kubelet. */
import type { Observable } from "rxjs";
import type { DraPlugin } from "../core/dra/driverServices.ts";
import type {
  Claim,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
  NodeWatchResourcesResponse,
} from "../gen/dra.ts";
import type { Call } from "./call.ts";

/** A registered driver. Every call has a deadline of 45 s. */
export interface DraDriver {
  readonly name: string;
  /** Whether its socket accepts connections. Calls to a driver that does not may fail or wait. */
  readonly isConnected: boolean;
  prepare(claims: readonly Claim[]): Call<NodePrepareResourcesResponse>;
  unprepare(claims: readonly Claim[]): Call<NodeUnprepareResourcesResponse>;
  /** Health of its devices while subscribed; errors with Unimplemented if the driver has none. */
  readonly health$: Observable<NodeWatchResourcesResponse>;
}

/** Drivers by name. */
export type DraDriverMap = ReadonlyMap<string, DraDriver>;

export interface DraDrivers {
  /**
   * Connects to the plugins while subscribed. `plugins$`: all registered plugins, the latest last. Emits the drivers once
   * there are any, and after each change. Never errors.
   */
  follow(plugins$: Observable<readonly DraPlugin[]>): Observable<DraDriverMap>;
}
