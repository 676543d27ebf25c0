import "reflect-metadata";
import { X509Certificate } from "node:crypto";
import { connect, createServer, type TLSSocket } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { nodeTemplate } from "../../../src/core/cert/certificateTemplate.ts";
import { CLIENT_USE, SERVING_USE } from "../../../src/core/cert/signingRequest.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { createCertificates } from "../../../src/sinks/certificates.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { realClock } from "../../support/realClock.ts";

const HOUR_MS = 3_600_000;
const NOW = epochMs(Math.floor(realClock.wallTime() / 1_000) * 1_000);
const certificates = createCertificates({ ...realClock, wallTime: () => NOW });
const template = { ...nodeTemplate("n1"), dnsNames: ["n1"], ipAddresses: ["10.0.0.1", "fd00::1"] };

describe("the Certificates port", () => {
  it("creates requests with the fields of the template, signed with their key", async () => {
    const key = await firstValueFrom(certificates.newKey());
    const { pem } = await firstValueFrom(certificates.request(key, template, SERVING_USE));
    const request = new Pkcs10CertificateRequest(pem);
    expect([key.split("\n")[0], await request.verify(), request.subject]).toEqual([
      "-----BEGIN EC PRIVATE KEY-----",
      true,
      "O=system:nodes, CN=system:node:n1",
    ]);
  });

  it("gives equal requests equal names, and different requests different names", async () => {
    const key = await firstValueFrom(certificates.newKey());
    const other = await firstValueFrom(certificates.newKey());
    const name = async (...args: Parameters<typeof certificates.request>) =>
      (await firstValueFrom(certificates.request(...args))).name;
    const first = await name(key, template, CLIENT_USE);
    expect(first).toMatch(/^node-csr-[\w-]{43}$/);
    expect(await name(key, template, CLIENT_USE)).toBe(first);
    expect(
      new Set([
        first,
        await name(other, template, CLIENT_USE),
        await name(key, nodeTemplate("n2"), CLIENT_USE),
        await name(key, template, SERVING_USE),
      ]).size,
    ).toBe(4);
  });

  it("reads a certificate that an authority issued for a request", async () => {
    const authority = await createTestAuthority();
    const key = await firstValueFrom(certificates.newKey());
    const { pem } = await firstValueFrom(certificates.request(key, template, SERVING_USE));
    const certificate = await authority.sign(pem, "server", HOUR_MS);
    const { notBefore, notAfter, ...facts } = await firstValueFrom(certificates.read({ certificate, key }));
    expect([notAfter - notBefore, facts]).toEqual([
      HOUR_MS,
      {
        commonName: "system:node:n1",
        organizations: ["system:nodes"],
        dnsNames: ["n1"],
        ipAddresses: ["10.0.0.1", "fd00::1"],
      },
    ]);
  });

  it("rejects invalid keys and certificates, and pairs that do not match", async () => {
    const [key, other] = [await firstValueFrom(certificates.newKey()), await firstValueFrom(certificates.newKey())];
    const { certificate } = await firstValueFrom(certificates.selfSigned("n1"));
    const code = (call: Parameters<typeof firstValueFrom>[0]) =>
      firstValueFrom(call).then(
        () => "fine",
        (error: { readonly code: string }) => error.code,
      );
    expect(
      await Promise.all([
        code(certificates.request("none", template, CLIENT_USE)),
        code(certificates.read({ certificate: "none", key })),
        code(certificates.read({ certificate, key: other })),
      ]),
    ).toEqual(["InvalidArgument", "InvalidArgument", "InvalidArgument"]);
  });

  it("creates certificates that clients of its authority accept for that host, for a year", async () => {
    const { certificate, key } = await firstValueFrom(certificates.selfSigned("n1"));
    const [, root = ""] = certificate.split(/(?<=-----END CERTIFICATE-----\n)/);
    const leaf = new X509Certificate(certificate);
    const server = createServer({ cert: certificate, key }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const socket: TLSSocket = connect({ port, host: "127.0.0.1", servername: "n1", ca: root });
    await once(socket, "secureConnect");
    const { authorized } = socket;
    socket.destroy();
    server.close();
    expect([authorized, leaf.subjectAltName, leaf.validFromDate.getTime(), leaf.validToDate.getTime()]).toEqual([
      true,
      "DNS:n1",
      NOW - HOUR_MS,
      NOW - HOUR_MS + 365 * 24 * HOUR_MS,
    ]);
  });
});
