import { X509Certificate } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BehaviorSubject, firstValueFrom, type Observable, toArray } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { servingIdentities, type ServingIdentitySetup } from "../../../src/commands/servingIdentities.ts";
import type { TlsIdentity } from "../../../src/core/api/clientConfig.ts";
import type { NodeAddress } from "../../../src/core/cert/servingTemplate.ts";
import { createMetrics } from "../../../src/sinks/metrics.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { type CertificateSigner, startCertificateSigner } from "../../support/apiServer/certificateSigner.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../../support/apiServer/httpsApiServer.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const HOUR_MS = 3_600_000;
const ip = (address: string): NodeAddress => ({ type: "InternalIP", address });

describe("servingIdentities", () => {
  const directory = temporaryDirectory();
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const setUp = (given: Partial<ServingIdentitySetup> = {}) => {
    const telemetry = recordingTelemetry();
    const metrics = createMetrics();
    closing.push(() => metrics.close());
    const setup: ServingIdentitySetup = {
      config: { serverTLSBootstrap: false, tlsCertFile: "", tlsPrivateKeyFile: "" },
      certDir: join(directory(), "pki"),
      nodeName: "n1",
      addresses$: new BehaviorSubject<readonly NodeAddress[]>([]),
      dnsOnly: false,
      reloadsFiles: true,
      api: undefined,
      log: telemetry.log,
      metrics,
      ...given,
    };
    return { setup, telemetry, metrics };
  };
  const collect = (identities$: Observable<TlsIdentity>): readonly TlsIdentity[] => {
    const reported: TlsIdentity[] = [];
    const subscription = identities$.subscribe((identity) => reported.push(identity));
    closing.push(() => subscription.unsubscribe());
    return reported;
  };

  it("makes a self-signed pair under upstream's names, and uses it again after a restart", async () => {
    const { setup } = setUp();
    const first = await firstValueFrom(servingIdentities(setup));
    const again = await firstValueFrom(servingIdentities(setup));
    const key = join(setup.certDir, "kubelet.key");
    expect([again, await readFile(join(setup.certDir, "kubelet.crt"), "utf8"), (await stat(key)).mode & 0o777]).toEqual(
      [first, first.certificate, 0o600],
    );
  });

  it("takes the pair of the given files", async () => {
    const pair = await (await createTestAuthority()).server();
    const [tlsCertFile, tlsPrivateKeyFile] = [join(directory(), "a.crt"), join(directory(), "a.key")];
    await mkdir(directory(), { recursive: true });
    await writeFile(tlsCertFile, pair.certificate);
    await writeFile(tlsPrivateKeyFile, pair.key);
    const { setup } = setUp({ config: { serverTLSBootstrap: false, tlsCertFile, tlsPrivateKeyFile } });
    expect(await firstValueFrom(servingIdentities(setup))).toEqual(pair);
  });

  it("keeps the first pair of files where they are not to be read anew", async () => {
    const pair = await (await createTestAuthority()).server();
    const [tlsCertFile, tlsPrivateKeyFile] = [join(directory(), "b.crt"), join(directory(), "b.key")];
    await mkdir(directory(), { recursive: true });
    await writeFile(tlsCertFile, pair.certificate);
    await writeFile(tlsPrivateKeyFile, pair.key);
    const config = { serverTLSBootstrap: false, tlsCertFile, tlsPrivateKeyFile };
    const { setup } = setUp({ config, reloadsFiles: false });
    expect(await firstValueFrom(servingIdentities(setup).pipe(toArray()))).toEqual([pair]);
  });

  it("says so when nobody can sign, or half a pair is given", () => {
    const alone = setUp({ config: { serverTLSBootstrap: true, tlsCertFile: "", tlsPrivateKeyFile: "" } });
    const half = setUp({ config: { serverTLSBootstrap: false, tlsCertFile: "/a", tlsPrivateKeyFile: "" } });
    const reported = [alone, half].map(({ setup }) => collect(servingIdentities(setup)).length);
    expect([
      reported,
      ...[alone, half].flatMap(({ telemetry }) => telemetry.lines.map(({ message }) => message)),
    ]).toEqual([
      [0, 0],
      "Certificate rotation is not enabled, no connection to the apiserver",
      "The server of the node has no certificate",
    ]);
  });

  it("has one signed once the addresses of the node are known, and another when they change", async () => {
    const server: HttpsApiServer = await startHttpsApiServer();
    const signer: CertificateSigner = startCertificateSigner(server, { kind: "sign", lifeMs: HOUR_MS });
    closing.push(
      () => server.close(),
      () => signer.stop(),
    );
    const addresses$ = new BehaviorSubject<readonly NodeAddress[]>([{ type: "Hostname", address: "n1" }]);
    const { setup, metrics, telemetry } = setUp({
      config: { serverTLSBootstrap: true, tlsCertFile: "", tlsPrivateKeyFile: "" },
      addresses$,
      api: server.sim.client({ kind: "node", nodeName: "n1" }),
    });
    const reported = collect(servingIdentities(setup));
    const before = signer.seen.length;
    addresses$.next([{ type: "Hostname", address: "n1" }, ip("10.0.0.1")]);
    await waitFor("the first certificate", () => reported.length === 1);
    addresses$.next([{ type: "Hostname", address: "n1" }, ip("10.0.0.1"), ip("fd00:0::1")]);
    await waitFor("the second certificate", () => reported.length === 2);

    const names = reported.map(({ certificate }) => new X509Certificate(certificate).subjectAltName);
    const current = await readFile(join(setup.certDir, "kubelet-server-current.pem"), "utf8");
    const page = await metrics.render();
    expect({
      before,
      names,
      isKept: current.startsWith(reported[1]?.certificate.trim() ?? "nothing"),
      ttl: Number(/^kubelet_certificate_manager_server_ttl_seconds (\d+)$/m.exec(page)?.[1]) > 3_500,
      rotations: /^kubelet_certificate_manager_server_rotation_seconds_count (\d+)$/m.exec(page)?.[1],
      errors: telemetry.lines.filter(({ level }) => level === "error"),
    }).toEqual({
      before: 0,
      names: ["DNS:n1, IP Address:10.0.0.1", "DNS:n1, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1"],
      isKept: true,
      ttl: true,
      rotations: "1",
      errors: [],
    });
  });
});
