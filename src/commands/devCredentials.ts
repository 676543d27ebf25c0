/** The keys and certificates of one run of `rxlet dev`: its server's, and those of its one client. */
import path from "node:path";
import { DEV_FILES } from "../core/dev/devInstance.ts";
import { devKubeconfig } from "../core/dev/devKubeconfig.ts";
import { createAuthority } from "../sinks/certificateAuthority.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type DevFiles, writePrivateFiles } from "./devInstances.ts";

/** Files of the server. */
export interface CredentialPaths {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** The files a client needs, by name, once the URL of the server is known. */
export type ClientFiles = (server: string) => DevFiles;

const NAMES = { authority: "ca.crt", certificate: "server.crt", key: "server.key" } as const;
const ADMINISTRATORS = "system:masters";

/** Paths of the server's files. */
export const credentialPaths = (directory: string): CredentialPaths => ({
  authority: path.join(directory, NAMES.authority),
  certificate: path.join(directory, NAMES.certificate),
  key: path.join(directory, NAMES.key),
});

/** Makes all of them and writes those of the server; the key of the authority is kept nowhere. */
export async function createDevCredentials(directory: string, hosts: readonly string[]): Promise<ClientFiles> {
  const authority = await createAuthority("rxlet-dev-ca", systemClock);
  const server = await authority.issue({ commonName: "rxlet-dev", use: "server", hosts });
  const client = await authority.issue({ commonName: "rxlet-dev", organization: ADMINISTRATORS, use: "client" });
  await writePrivateFiles(directory, {
    [NAMES.authority]: authority.certificate,
    [NAMES.certificate]: server.certificate,
    [NAMES.key]: server.key,
  });
  return (url) => ({
    [DEV_FILES.authority]: authority.certificate,
    [DEV_FILES.client]: `${client.certificate}${client.key}`,
    [DEV_FILES.kubeconfig]: devKubeconfig(url, authority.certificate, client),
  });
}
