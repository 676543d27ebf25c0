/**
 * The client certificates of a node over time: requested with the bootstrap kubeconfig, renewed before they expire, or
 * read from the files of the kubeconfig after a change. Upstream: buildKubeletClientConfig in
 * cmd/kubelet/app/server.go.
 */
import path from "node:path";
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  switchMap,
  take,
  tap,
} from "rxjs";
import type { ClientConfig, TlsIdentity } from "../core/api/clientConfig.ts";
import { bootstrapKubeconfig } from "../core/cert/bootstrapKubeconfig.ts";
import type { HeldCertificate } from "../core/cert/certificateFacts.ts";
import { ttlSeconds } from "../core/cert/certificateFacts.ts";
import { nodeTemplate } from "../core/cert/certificateTemplate.ts";
import { currentPairPath } from "../core/cert/pemFile.ts";
import { CLIENT_USE } from "../core/cert/signingRequest.ts";
import { certificateStore } from "../pipelines/certificates/certificateStore.ts";
import type { CertificateIssuer } from "../pipelines/certificates/obtainCertificate.ts";
import { rotateCertificate } from "../pipelines/certificates/rotateCertificate.ts";
import type { ApiServer } from "../ports/apiServer.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { ApiConnection } from "../sinks/apiServer/apiLanes.ts";
import { createCertificates } from "../sinks/certificates.ts";
import { createFiles } from "../sinks/files.ts";
import { createTrees } from "../sinks/trees/trees.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { certificateFiles } from "../sources/certificateFiles.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";

export interface ClientCertificateSetup {
  readonly client: ClientConfig;
  readonly bootstrap: ClientConfig | undefined;
  readonly nodeName: string;
  /** `rotateCertificates` of the configuration. */
  readonly rotates: boolean;
  /** `--cert-dir`. */
  readonly certDir: string;
  /** `--kubeconfig`: written once the node has a certificate. */
  readonly kubeconfig: string;
  readonly log: Logger;
  readonly metrics: MetricsSink;
  /** The API server as the node itself. */
  readonly own: ApiServer;
  /** Opens the way to the API server with the bootstrap credentials. */
  openBootstrap(client: ClientConfig): ApiConnection;
}

const PREFIX = "kubelet-client";
const PRIVATE_MODE = 0o600;
const DIRECTORY_MODE = 0o755;

/** Emits each identity that the node uses from then on. Never errors or completes. */
export function clientIdentities(setup: ClientCertificateSetup): Observable<TlsIdentity> {
  const { client, bootstrap, rotates, log } = setup;
  const isBootstrapped = client.identity === undefined && bootstrap !== undefined;
  const follow$ = followFiles(client, log);
  if (!rotates && !isBootstrapped) return follow$;
  const renewed$ = renewedCertificates(setup);
  const certificates$ = isBootstrapped ? withKubeconfig(renewed$, setup, bootstrap) : renewed$;
  const identities$ = certificates$.pipe(map(({ identity }) => identity));
  return rotates ? identities$ : concat(identities$.pipe(take(1)), follow$);
}

function followFiles({ certificate }: ClientConfig, log: Logger): Observable<TlsIdentity> {
  if (certificate === undefined || !("file" in certificate.certificate || "file" in certificate.key)) return NEVER;
  return certificateFiles(certificate, systemClock, (error) =>
    log.warn("The client certificate cannot be used; the last one stays in use", { error }),
  );
}

function renewedCertificates(setup: ClientCertificateSetup): Observable<HeldCertificate> {
  const { client, bootstrap, log, metrics } = setup;
  return defer(() => {
    let opened: ApiConnection | undefined;
    let held: HeldCertificate | undefined;
    const issuer = (holdsValid: boolean): CertificateIssuer | undefined => {
      if (holdsValid || client.proof.kind !== "none") return { api: setup.own, isBootstrap: false };
      if (bootstrap === undefined) return undefined;
      opened ??= setup.openBootstrap(bootstrap);
      return { api: opened.lanes.objects, isBootstrap: true };
    };
    const closeBootstrap = (): void => {
      opened?.close();
      opened = undefined;
    };
    if (setup.rotates) {
      metrics.beforeRender(() =>
        metrics.gauge(
          "kubelet_certificate_manager_client_ttl_seconds",
          ttlSeconds(held?.facts.notAfter, systemClock.wallTime()),
        ),
      );
    }
    const certificates = createCertificates(systemClock);
    const directory = path.resolve(setup.certDir);
    return rotateCertificate(
      {
        use: CLIENT_USE,
        template$: concat(of(nodeTemplate(setup.nodeName)), NEVER),
        store: certificateStore(
          { directory, prefix: PREFIX, fallback: client.certificate },
          { files: createFiles(createTrees({ clock: systemClock })), certificates, clock: systemClock },
        ),
        issuer,
        onFailure: () => metrics.count("kubelet_certificate_manager_client_expiration_renew_errors"),
      },
      { certificates, clock: systemClock, rng: systemRandom, log },
    ).pipe(
      tap((next) => {
        held = next;
        closeBootstrap();
      }),
      finalize(closeBootstrap),
    );
  });
}

/** Writes the kubeconfig before the first certificate is emitted, so that the next start needs no bootstrap. */
function withKubeconfig(
  renewed$: Observable<HeldCertificate>,
  { kubeconfig, certDir, log }: ClientCertificateSetup,
  bootstrap: ClientConfig,
): Observable<HeldCertificate> {
  const text = bootstrapKubeconfig(bootstrap, currentPairPath(path.resolve(certDir), PREFIX));
  const files = createFiles(createTrees({ clock: systemClock }));
  const write$ = concat(
    files.makeDirectory(path.dirname(path.resolve(kubeconfig)), DIRECTORY_MODE),
    files.replaceFile(path.resolve(kubeconfig), text, PRIVATE_MODE),
  ).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      log.error("The kubeconfig cannot be written; the next start requests a certificate again", { error });
      return EMPTY;
    }),
  );
  return renewed$.pipe(switchMap((held, index) => (index === 0 ? concat(write$, of(held)) : of(held))));
}
