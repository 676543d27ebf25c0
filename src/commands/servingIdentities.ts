/**
 * The serving certificates of the node over time: signed by the control plane, read from files of the administrator, or
 * self-signed. Upstream: InitializeTLS in cmd/kubelet/app/server.go and
 * NewKubeletServerCertificateManager.
 */
import path from "node:path";
import { concat, defer, EMPTY, map, type Observable, retry, take, tap } from "rxjs";
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import { type HeldCertificate, ttlSeconds } from "../core/cert/certificateFacts.ts";
import { type PairPaths, servingSource, type ServingSettings } from "../core/cert/servingSource.ts";
import { type NodeAddress, servingTemplate } from "../core/cert/servingTemplate.ts";
import { SERVING_USE } from "../core/cert/signingRequest.ts";
import { longTimer } from "../operators/longTimer.ts";
import { certificateStore } from "../pipelines/certificates/certificateStore.ts";
import { rotateCertificate } from "../pipelines/certificates/rotateCertificate.ts";
import { selfSignedPair } from "../pipelines/certificates/selfSignedPair.ts";
import type { ApiServer } from "../ports/apiServer.ts";
import type { Logger } from "../ports/telemetry.ts";
import { createCertificates } from "../sinks/certificates.ts";
import { createFiles } from "../sinks/files.ts";
import { createTrees } from "../sinks/trees/trees.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { certificateFiles } from "../sources/certificateFiles.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";

export interface ServingIdentitySetup {
  readonly config: ServingSettings;
  /** `--cert-dir`. */
  readonly certDir: string;
  readonly nodeName: string;
  /** Addresses of the Node object; empty before the API server has it. */
  readonly addresses$: Observable<readonly NodeAddress[]>;
  /** A certificate may name hosts alone: the gate AllowDNSOnlyNodeCSR. */
  readonly dnsOnly: boolean;
  /** Follows changes of the administrator's files: the gate ReloadKubeletServerCertificateFile. */
  readonly reloadsFiles: boolean;
  /** The API server as the node; undefined on a standalone node, whose certificate has no signer. */
  readonly api: ApiServer | undefined;
  readonly log: Logger;
  readonly metrics: MetricsSink;
}

/** Delay after a failure to create a self-signed pair. */
const AGAIN_MS = 60_000;

/** Emits each identity of the server. Never errors. */
export function servingIdentities(setup: ServingIdentitySetup): Observable<TlsIdentity> {
  const { config, api, log } = setup;
  const found = servingSource(config, path.resolve(setup.certDir));
  if (!found.ok) {
    log.error("The server of the node has no certificate", { error: found.error });
    return EMPTY;
  }
  const source = found.value;
  if (source.kind === "signed" && api === undefined) {
    log.error("Certificate rotation is not enabled, no connection to the apiserver", {
      signer: SERVING_USE.signerName,
    });
    return source.until === undefined ? EMPTY : followed(source.until, log);
  }
  switch (source.kind) {
    case "files":
      return setup.reloadsFiles ? followed(source.paths, log) : followed(source.paths, log).pipe(take(1));
    case "selfSigned":
      return concat(made(source.paths, setup), followed(source.paths, log));
    case "signed":
      return signed(source.until, setup).pipe(map(({ identity }) => identity));
  }
}

const followed = ({ certificate, key }: PairPaths, log: Logger): Observable<TlsIdentity> =>
  certificateFiles({ certificate: { file: certificate }, key: { file: key } }, systemClock, (error) =>
    log.warn("The serving certificate cannot be used; the last one stays in use", { error }),
  );

const made = (paths: PairPaths, { nodeName, log }: ServingIdentitySetup): Observable<never> =>
  selfSignedPair(paths, nodeName, {
    files: createFiles(createTrees({ clock: systemClock })),
    certificates: createCertificates(systemClock),
  }).pipe(
    retry({
      delay: (error) => {
        log.error("The self-signed serving certificate cannot be made", { error });
        return longTimer(systemClock, AGAIN_MS);
      },
    }),
  );

function signed(until: PairPaths | undefined, setup: ServingIdentitySetup): Observable<HeldCertificate> {
  const { api, nodeName, addresses$, dnsOnly, log, metrics } = setup;
  return defer(() => {
    let held: HeldCertificate | undefined;
    metrics.beforeRender(() => {
      const ttl = ttlSeconds(held?.facts.notAfter, systemClock.wallTime());
      metrics.gauge("kubelet_certificate_manager_server_ttl_seconds", ttl);
    });
    const certificates = createCertificates(systemClock);
    const store = certificateStore(
      {
        directory: path.resolve(setup.certDir),
        prefix: "kubelet-server",
        fallback: until && { certificate: { file: until.certificate }, key: { file: until.key } },
      },
      { files: createFiles(createTrees({ clock: systemClock })), certificates, clock: systemClock },
    );
    return rotateCertificate(
      {
        use: SERVING_USE,
        template$: addresses$.pipe(map((addresses) => servingTemplate(nodeName, addresses, dnsOnly))),
        store,
        issuer: () => api && { api, isBootstrap: false },
        onFailure: () => metrics.count("kubelet_server_expiration_renew_errors"),
        onRotated: (ageSeconds) => metrics.observe("kubelet_certificate_manager_server_rotation_seconds", ageSeconds),
      },
      { certificates, clock: systemClock, rng: systemRandom, log },
    ).pipe(
      tap((next) => {
        held = next;
      }),
    );
  });
}
