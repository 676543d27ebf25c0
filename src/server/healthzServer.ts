/** The health server on healthzBindAddress:healthzPort: serves `/healthz` and its checks without authentication. */
import type { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { baseApp } from "./baseApp.ts";
import { addHealthzRoutes } from "./healthzRoutes.ts";
import { type ListeningAddress, serve, type ServerLimits } from "./serve.ts";

export interface HealthzServerOptions {
  readonly address: string;
  readonly port: number;
  readonly queries: KubeletQueries;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Host names of this node; see `BaseAppOptions`. */
  readonly names: ReadonlySet<string>;
  readonly limits?: ServerLimits;
}

/** Serves while subscribed; see `serve`. */
export function healthzServer({
  address,
  port,
  queries,
  telemetry,
  clock,
  names,
  limits,
}: HealthzServerOptions): Observable<ListeningAddress> {
  const app = baseApp(telemetry.log, { names });
  addHealthzRoutes(app, queries, telemetry);
  return serve({ app, telemetry, clock, address, port, ...(limits === undefined ? {} : { limits }) });
}
