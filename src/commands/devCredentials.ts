/** Keys and certificates of one run of `rxlet dev`: for its server and for its clients, which share one identity. */
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

/** Returns the files that a client needs, by name, for the URL of the server. */
export type ClientFiles = (server: string) => DevFiles;

const NAMES = { authority: "ca.crt", certificate: "server.crt", key: "server.key" } as const;
const ADMINISTRATORS = "system:masters";

/** Paths of the server's files. */
export const credentialPaths = (directory: string): CredentialPaths => ({
  authority: path.join(directory, NAMES.authority),
  certificate: path.join(directory, NAMES.certificate),
  key: path.join(directory, NAMES.key),
});

/** Creates all of them and writes the server's files. The key of the authority is never stored. */
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
