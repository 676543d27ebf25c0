/** The credentials of a node for a test server, in the files in which kubeadm lays them out. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpsApiServer } from "./httpsApiServer.ts";

/** Writes `kubelet.conf` and the certificate it names below `folder`; resolves to the path of the former. The certificate is good for a day, or `lifeMs`. */
export async function writeNodeKubeconfig(
  server: HttpsApiServer,
  nodeName: string,
  folder: string,
  lifeMs?: number,
): Promise<string> {
  const identity = await server.clientCertificate({ kind: "node", nodeName }, lifeMs);
  await mkdir(join(folder, "pki"), { recursive: true });
  const pem = "pki/kubelet-client-current.pem";
  await writeFile(join(folder, pem), `${identity.certificate}\n${identity.key}`);
  const file = join(folder, "kubelet.conf");
  const cluster = { server: server.url, "certificate-authority-data": btoa(server.authority.certificate) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "test", user: "node" } }],
    clusters: [{ name: "test", cluster }],
    users: [{ name: "node", user: { "client-certificate": pem, "client-key": pem } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
