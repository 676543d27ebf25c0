/** The daemon gets, keeps and renews the certificates of its node, against the API server behind HTTPS. */
import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, lstat, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import {
  type CertificateSigner,
  startCertificateSigner,
  type SigningPolicy,
} from "../support/apiServer/certificateSigner.ts";
import { createTestAuthority } from "../support/apiServer/certificates.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { newPod } from "../support/simApi.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime } from "./embeddedRuntimeSetup.ts";
import { freePort } from "../support/ports.ts";

const NODE = "test-node";
const TOKEN = "abcdef.0123456789abcdef";
const WAIT_MS = 90_000;
const HOUR_MS = 3_600_000;
/** Returns the certificate of a loopback server, as DER; undefined while it presents none. */
const servedCertificate = (port: number): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
    socket.on("error", () => resolve(undefined));
  });
const container = { name: "main", image: "rxlet.dev/host", command: ["sleep", "600"] };

describe("the certificates of a daemon", () => {
  let server: HttpsApiServer | undefined;
  let signer: CertificateSigner | undefined;
  let daemon: Daemon | undefined;
  let folder = "";
  const under = () => {
    if (server === undefined || signer === undefined) throw new Error("the server did not start");
    return { ...server, server, signer };
  };
  beforeEach(async () => {
    server = await startHttpsApiServer();
    server.tokens.set(TOKEN, { kind: "bootstrap", tokenId: "abcdef" });
    server.sim.put("nodes", { metadata: { name: NODE } });
  });
  afterEach(async () => {
    await daemon?.kill();
    daemon = undefined;
    signer?.stop();
    await server?.close();
  });

  const pki = (name: string): string => join(folder, "pki", name);
  const start = async (
    policy: SigningPolicy,
    config: Readonly<Record<string, unknown>> = {},
    authority: Readonly<Record<string, string>> = {
      "certificate-authority-data": btoa(server?.authority.certificate ?? ""),
    },
  ): Promise<Daemon> => {
    if (server === undefined) throw new Error("the server did not start");
    signer = startCertificateSigner(server, policy);
    const { dir, socketPath } = await startRuntime();
    folder = join(dir, "node");
    await mkdir(folder, { recursive: true });
    const bootstrap = join(folder, "bootstrap-kubelet.conf");
    const cluster = { server: server.url, ...authority };
    await writeFile(
      bootstrap,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "bootstrap",
        contexts: [{ name: "bootstrap", context: { cluster: "test", user: "joining" } }],
        clusters: [{ name: "test", cluster }],
        users: [{ name: "joining", user: { token: TOKEN } }],
      }),
    );
    daemon = await startDaemon({
      folder,
      endpoint: `unix://${socketPath}`,
      config,
      args: [
        "--bootstrap-kubeconfig",
        bootstrap,
        "--kubeconfig",
        join(folder, "kubelet.conf"),
        "--cert-dir",
        join(folder, "pki"),
      ],
    });
    return daemon;
  };
  const until = async <T>(of: Daemon, what: string, check: () => Promise<T | undefined> | T | undefined) =>
    waitFor(what, check, WAIT_MS).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${(await of.log()).slice(-6000)}`);
    });
  const reported = (name: string): Pod | undefined =>
    under().sim.object("pods", { namespace: "default", name }) as Pod | undefined;
  const runs = (of: Daemon, name: string) =>
    until(of, `pod ${name} to run`, () => (reported(name)?.status?.phase === "Running" ? reported(name) : undefined));

  it("are asked for with a bootstrap token; meanwhile static pods run, and a restart goes on with the same request", async () => {
    const of = await start({ kind: "wait" });
    await of.put("static.json", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "static" },
      spec: { containers: [container] },
    });
    await of.until("static", ({ status }) => status?.phase === "Running", "Running");
    await until(of, "the request", () => under().signer.seen.length === 1);
    await of.kill();
    await of.restart();
    await until(of, "the request to be found again", async () =>
      under().requests.some((line) =>
        line.startsWith("GET /apis/certificates.k8s.io/v1/certificatesigningrequests/node-csr-"),
      ),
    );
    under().signer.setPolicy({ kind: "sign", lifeMs: HOUR_MS });
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    await runs(of, "bound");

    const current = pki("kubelet-client-current.pem");
    const dated = await readlink(current);
    expect({
      seen: under().signer.seen.map((name) => name.replace(/^(node-csr-)[\w-]{43}$/, "$1DIGEST")),
      isLink: (await lstat(current)).isSymbolicLink(),
      dated: dated.replace(folder, "").replace(/\d/g, "0"),
      mode: (await stat(current)).mode & 0o777,
      labels: (await readFile(current, "utf8")).match(/-----BEGIN [A-Z ]+/g),
      kubeconfig: (await stat(join(folder, "kubelet.conf"))).mode & 0o777,
      pending: await stat(pki("kubelet-client.key.tmp")).catch(() => "none"),
    }).toEqual({
      seen: ["node-csr-DIGEST"],
      isLink: true,
      dated: "/pki/kubelet-client-0000-00-00-00-00-00.pem",
      mode: 0o600,
      labels: ["-----BEGIN CERTIFICATE", "-----BEGIN EC PRIVATE KEY"],
      kubeconfig: 0o600,
      pending: "none",
    });

    await of.kill();
    await of.restart();
    under().sim.put("pods", newPod("later", { nodeName: NODE, containers: [container] }));
    await runs(of, "later");
    expect(under().signer.seen).toHaveLength(1);
  });

  it("are asked for once the authority file of the bootstrap kubeconfig is the server's", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "rxlet-authority-")), "ca.crt");
    await writeFile(file, (await createTestAuthority()).certificate);
    const of = await start({ kind: "sign", lifeMs: HOUR_MS }, {}, { "certificate-authority": file });
    await until(of, "a server of another authority to be refused", async () =>
      /certificate signature failure|unable to verify/i.test(await of.log()) ? true : undefined,
    );
    await writeFile(file, under().authority.certificate);
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    await runs(of, "bound");
    await rm(dirname(file), { recursive: true });
  });

  it("are asked for again once a denied request was deleted", async () => {
    const of = await start({ kind: "deny", reason: "UnknownNode" });
    const words = "certificate signing request is denied, reason: UnknownNode, message: by the test";
    await until(of, "the denial to be told", async () => ((await of.log()).includes(words) ? true : undefined));
    under().signer.setPolicy({ kind: "sign", lifeMs: HOUR_MS });
    const [name = ""] = under().signer.seen;
    under().sim.delete("certificatesigningrequests", { name });
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    await runs(of, "bound");
    expect(under().signer.seen).toEqual([name, name]);
  });

  it("are renewed while pods run: connections move, watches go on where they were, no pod is touched", async () => {
    const of = await start({ kind: "sign", lifeMs: 10_000 }, { rotateCertificates: true });
    const first = await until(of, "the first certificate", () =>
      readlink(pki("kubelet-client-current.pem")).catch(() => undefined),
    );
    under().signer.setPolicy({ kind: "sign", lifeMs: HOUR_MS });
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    const before = await runs(of, "bound");
    await until(of, "the next certificate", async () => (await readlink(pki("kubelet-client-current.pem"))) !== first);
    const isNew = async () =>
      ((await of.metric("kubelet_certificate_manager_client_ttl_seconds")) ?? 0) > 60 ? true : undefined;
    await until(of, "it to be used", isNew);
    under().sim.put("pods", newPod("later", { nodeName: NODE, containers: [container] }));
    await runs(of, "later");

    const startOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
    const whole = under().requests.filter(
      (line) => line.startsWith("GET /api/v1/pods?") && !/watch=true.*resourceVersion=[1-9]/.test(line),
    );
    expect({
      asked: under().signer.seen.map((name) => name.replace(/-[^-]+$/, "").replace(/^node-csr.*/, "node-csr")),
      askedBy: under()
        .sim.objects("certificatesigningrequests")
        .map(({ spec }) => spec.username),
      wholeStates: whole.length,
      container: startOf(reported("bound")),
      failures: await of.metric("kubelet_certificate_manager_client_expiration_renew_errors"),
    }).toEqual({
      asked: ["node-csr", "csr"],
      askedBy: ["system:bootstrap:abcdef", `system:node:${NODE}`],
      wholeStates: 1,
      container: startOf(before),
      failures: 0,
    });
  });

  it("secure the server when the control plane signs the node's request with its reported addresses", async () => {
    const port = await freePort();
    const of = await start(
      { kind: "sign", lifeMs: HOUR_MS },
      {
        serverTLSBootstrap: true,
        enableServer: true,
        port,
      },
    );
    const pem = pki("kubelet-server-current.pem");
    const text = await until(of, "the serving certificate", () => readFile(pem, "utf8").catch(() => undefined));
    const addresses = under().sim.object("nodes", { name: NODE })?.status?.addresses ?? [];
    const { subjectAltName = "", subject } = new X509Certificate(text);
    const ips = addresses
      .filter(({ type, address }) => type === "InternalIP" && !address.includes(":"))
      .map(({ address }) => address);
    expect([ips.length > 0, ips.every((ip) => subjectAltName.includes(`IP Address:${ip}`)), subject]).toEqual([
      true,
      true,
      `O=system:nodes\nCN=system:node:${NODE}`,
    ]);
    const shown = await until(of, "the server to have it", () => servedCertificate(port));
    expect(shown.equals(new X509Certificate(text).raw)).toBe(true);
    expect(await of.metric("kubelet_certificate_manager_server_ttl_seconds")).toBeGreaterThan(3_000);
    expect(await of.metric("kubelet_certificate_manager_client_ttl_seconds")).toBeUndefined();
  });
});
