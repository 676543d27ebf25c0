/**
 * Builds the authenticated server of a node from its configuration: certificates, authentication, authorization and
 * routes. Loaded only by nodes that have it. Upstream: InitializeTLS and BuildAuth in cmd/kubelet/app.
 */
import { combineLatest, EMPTY, map, type Observable, of, take } from "rxjs";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Shedding } from "../ports/shedding.ts";
import { createAuthenticate } from "../server/auth/authenticate.ts";
import { ALWAYS_ALLOW, type Authorize, createWebhookAuthorize } from "../server/auth/authorize.ts";
import { kubeletServer } from "../server/kubeletServer.ts";
import { secureListener, type TlsMaterial } from "../server/secureListener.ts";
import type { ListeningAddress } from "../server/serve.ts";
import { authorityFile } from "../sources/authorityFile.ts";
import { forwardingOf } from "./forwarding.ts";
import { servingIdentities, type ServingIdentitySetup } from "./servingIdentities.ts";
import { kubeletRoutes, type RoutesSetup } from "./kubeletRoutes.ts";

export interface HttpsServerSetup extends RoutesSetup {
  readonly nodeName: string;
  readonly addresses$: ServingIdentitySetup["addresses$"];
  readonly ports: Pick<KubeletPorts, "api" | "clock" | "runtime" | "files" | "tracing">;
  readonly shedding: Shedding;
}

/** Serves while subscribed; see `serve`. Stays off, with a log line, if it could authorize no client. */
export function httpsServer(setup: HttpsServerSetup): Observable<ListeningAddress> {
  const { options, ports, log, metrics } = setup;
  const { config, flags, featureGates } = options;
  const isOn = (gate: string): boolean => featureGates.get(gate) === true;
  const authorize = authorizeOf(setup);
  if (authorize === undefined) {
    log.warn("The HTTPS server stays off: no client provided, cannot use webhook authorization", {
      port: config.port,
      hint: "give --kubeconfig, or set authorization.mode to AlwaysAllow, or enableServer to false",
    });
    return EMPTY;
  }
  return kubeletServer({
    address: config.address,
    port: config.port,
    secure: secureListener(tlsMaterial(setup), config, config.authentication.x509.clientCAFile !== "", (error) =>
      log.error("The last certificate stays in use", { error }),
    ),
    forwarding: forwardingOf(config),
    ...kubeletRoutes(setup),
    access: {
      authenticate: createAuthenticate({
        anonymous: config.authentication.anonymous.enabled,
        reviewer:
          ports.api && config.authentication.webhook.enabled
            ? { api: ports.api.tokenReviews, cacheTtlMs: config.authentication.webhook.cacheTTL }
            : undefined,
        clock: ports.clock,
        metrics,
        shedding: setup.shedding,
      }),
      authorize,
      rules: {
        fineGrained: isOn("KubeletFineGrainedAuthz"),
        streamsNeedCreate: !flags.allowStreamsByGet,
      },
    },
    tracing: ports.tracing,
    shedding: setup.shedding,
  });
}

/** Returns undefined for webhook authorization without an API server. */
function authorizeOf({
  options: { config },
  ports: { api, clock },
  nodeName,
  metrics,
  shedding,
}: HttpsServerSetup): Authorize | undefined {
  const { mode, webhook } = config.authorization;
  if (mode === "AlwaysAllow") return ALWAYS_ALLOW;
  return (
    api &&
    createWebhookAuthorize({
      api: api.accessReviews,
      nodeName,
      allowedTtlMs: webhook.cacheAuthorizedTTL,
      deniedTtlMs: webhook.cacheUnauthorizedTTL,
      clock,
      metrics,
      shedding,
    })
  );
}

function tlsMaterial(setup: HttpsServerSetup): Observable<TlsMaterial> {
  const { options, nodeName, addresses$, ports, log, metrics } = setup;
  const { config, flags, featureGates } = options;
  const { clientCAFile } = config.authentication.x509;
  const identity$ = servingIdentities({
    config,
    certDir: flags.certDir,
    nodeName,
    addresses$,
    dnsOnly: featureGates.get("AllowDNSOnlyNodeCSR") === true,
    reloadsFiles: featureGates.get("ReloadKubeletServerCertificateFile") === true,
    api: ports.api?.objects,
    log,
    metrics,
  });
  const clientAuthorities$: Observable<string | undefined> =
    clientCAFile === ""
      ? of(undefined)
      : authorityFile(clientCAFile, ports.clock, (error) =>
          log.error("The client authorities cannot be used; the last ones stay in use", { error }),
        ).pipe(take(featureGates.get("ReloadKubeletClientCAFile") === true ? Number.POSITIVE_INFINITY : 1));
  return combineLatest([identity$, clientAuthorities$]).pipe(
    map(([identity, clientAuthorities]) => ({ identity, clientAuthorities })),
  );
}
