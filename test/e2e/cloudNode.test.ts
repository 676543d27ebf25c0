/** The daemon on an instance of a cloud: its Node at the API server, by a metadata service over HTTP. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../support/apiServer/nodeKubeconfig.ts";
import { EC2_ANSWERS, EC2_INSTANCE } from "../support/cloudInstances.ts";
import { type Daemon, NODE_NAME, startDaemon } from "../support/daemon.ts";
import { LOOPBACK, loopbackServers } from "../support/loopbackServer.ts";
import { metadataService, type MetadataService } from "../support/metadataService.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime } from "./embeddedRuntimeSetup.ts";

const WAIT_MS = 90_000;

describe("a daemon on an instance of a cloud", () => {
  const servers = loopbackServers();
  let server: HttpsApiServer | undefined;
  let daemon: Daemon | undefined;
  beforeEach(async () => {
    server = await startHttpsApiServer();
  });
  afterEach(async () => {
    await daemon?.kill();
    await server?.close();
  });
  const start = async (service: MetadataService): Promise<Daemon> => {
    if (server === undefined) throw new Error("the server did not start");
    const { dir, socketPath } = await startRuntime();
    const folder = join(dir, "node");
    const kubeconfig = await writeNodeKubeconfig(server, NODE_NAME, folder);
    const url = `http://${LOOPBACK}:${await servers.http(service.answer)}`;
    daemon = await startDaemon({
      folder,
      endpoint: `unix://${socketPath}`,
      args: [
        ...["--kubeconfig", kubeconfig, "--cert-dir", join(folder, "pki")],
        ...["--cloud-metadata", "ec2", "--cloud-metadata-url", url],
      ],
    });
    return daemon;
  };
  const node = () => server?.sim.object("nodes", { name: NODE_NAME });
  const until = (of: Daemon, what: string, check: () => boolean) =>
    waitFor(what, check, WAIT_MS).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(node())}\n${(await of.log()).slice(-6_000)}`);
    });
  const isReady = (): boolean =>
    node()?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;

  it("is Ready without its metadata service, and then has the addresses, the provider id and the labels of the cloud", async () => {
    const service = metadataService(EC2_ANSWERS, true);
    let isDown = true;
    service.fault = ({ socket }) => {
      if (isDown) socket.destroy();
      return isDown;
    };
    const of = await start(service);
    await until(of, "the Node to be Ready", isReady);
    expect([node()?.status?.addresses?.map(({ type }) => type), node()?.spec?.providerID]).toEqual([
      ["Hostname"],
      undefined,
    ]);
    isDown = false;
    await until(of, "the Node to be complete", () => node()?.spec?.providerID !== undefined);
    // The helper of the tests overrides the host name, which precedes the cloud's.
    const hostname = { type: "Hostname", address: NODE_NAME };
    const expected = EC2_INSTANCE.addresses.map((each) => (each.type === "Hostname" ? hostname : each));
    await until(of, "the addresses", () => node()?.status?.addresses?.length === expected.length);
    expect(node()).toMatchObject({
      metadata: { labels: { "topology.kubernetes.io/zone": "eu-example-1a" } },
      spec: { providerID: EC2_INSTANCE.providerId },
      status: { addresses: expected },
    });
    expect(await of.metric('rxlet_source_up{source="cloudMetadata"}')).toBe(1);
  });
});
