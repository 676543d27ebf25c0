/** A node with an HTTPS server on a private containerd, shared by the tests of a file, and an administrator of it. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createTestAuthority, type PemIdentity, type TestAuthority } from "../support/apiServer/certificates.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { type ContainerdNode, containerdNode } from "./containerdNode.ts";
import { freePort } from "../support/ports.ts";

export interface HttpsNode {
  readonly node: ContainerdNode;
  readonly port: number;
  readonly authority: TestAuthority;
  /** Certificate of an administrator, and what to trust. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  request(
    path: string,
    options?: RequestOptions & { readonly body?: string },
  ): Promise<{ readonly status: number; readonly body: string }>;
}

/** Registers the hooks; call it once in a describe. Every client with a certificate may do everything. */
export function httpsNode(
  installation: ContainerdInstallation,
  config: Readonly<Record<string, unknown>> = {},
): HttpsNode {
  let folder = "";
  let port = 0;
  let authority: TestAuthority | undefined;
  let admin: PemIdentity | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-https-"));
    port = await freePort();
    authority = await createTestAuthority();
    const serving = await authority.server();
    admin = await authority.client({ commonName: "admin" });
    await writeFile(join(folder, "ca.crt"), authority.certificate);
    await writeFile(join(folder, "server.crt"), serving.certificate);
    await writeFile(join(folder, "server.key"), serving.key);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const args = (): Promise<readonly string[]> =>
    Promise.resolve([
      ...["--enable-server", `--port=${port}`, "--authorization-mode=AlwaysAllow"],
      ...[`--client-ca-file=${folder}/ca.crt`, `--cert-dir=${folder}/pki`],
      ...[`--tls-cert-file=${folder}/server.crt`, `--tls-private-key-file=${folder}/server.key`],
    ]);
  const node = containerdNode(installation, { config, args });
  const tls = () => ({ ca: authority?.certificate ?? "", cert: admin?.certificate ?? "", key: admin?.key ?? "" });
  return {
    node,
    get port() {
      return port;
    },
    get authority() {
      if (authority === undefined) throw new Error("used outside of a test: the hooks have not run");
      return authority;
    },
    get tls() {
      return tls();
    },
    request: async (path, { body, ...options } = {}) => {
      const request = httpsRequest({ host: "127.0.0.1", port, path, agent: false, ...tls(), ...options }).end(body);
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      return { status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() };
    },
  };
}
