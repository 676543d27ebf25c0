/**
 * Routes of the local socket: those of the kubelet, an API for reads as kubectl sends them, and changes of manifests. Its
 * clients are root and a group, so the switches that limit remote clients do not apply.
 */
import type { Hono } from "hono";
import type { LocalPeers } from "../../ports/localPeers.ts";
import type { Rng } from "../../ports/random.ts";
import { baseApp } from "../baseApp.ts";
import { addKubeletRoutes, KUBELET_BODIES, type KubeletRouteOptions } from "../kubeletServer.ts";
import { type LocalApiOptions, refuseWrites } from "../localApi/localApi.ts";
import { localGuard } from "./localGuard.ts";
import { addManifestRoutes, MANIFEST_BODIES, type ManifestRouteOptions } from "./manifestRoutes.ts";

export interface LocalAppOptions extends KubeletRouteOptions {
  readonly localApi: LocalApiOptions;
  readonly peers: LocalPeers;
  readonly rng: Pick<Rng, "uuid">;
  readonly manifests: ManifestRouteOptions["manifests"];
}

/** Returns the routes without a listener. */
export function localApp(options: LocalAppOptions): Hono {
  const { telemetry, clock, localApi, peers, rng, handlers } = options;
  const { letIn, peerOf } = localGuard({ peers, clock, rng, log: telemetry.log });
  const takesBody = new Map([...KUBELET_BODIES, ...MANIFEST_BODIES]);
  const app = baseApp(telemetry.log, { guard: letIn, first: refuseWrites(localApi), takesBody });
  addManifestRoutes(app, { ...options, log: telemetry.log, peerOf });
  addKubeletRoutes(app, { ...options, handlers: { ...handlers, enableDebuggingHandlers: true } });
  return app;
}
