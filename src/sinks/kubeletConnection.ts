/** Connection options of a client of a kubelet's server: trusted authorities, and credentials from files. */
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { ioError } from "../core/ioError.ts";

const contentOf = async (path: string): Promise<string | undefined> => {
  if (path === "") return undefined;
  return readFile(path, "utf8").catch((thrown: unknown) => {
    throw ioError("read", path, thrown);
  });
};

/** Returns the options of a request; plain HTTP ignores the TLS options. Rejects with Io for an unreadable file. */
export async function connectionOptions({
  certificateAuthority,
  insecure,
  clientCertificate,
  clientKey,
  tokenFile,
}: KubeletAccess): Promise<RequestOptions & { readonly headers: Record<string, string> }> {
  const token = (await contentOf(tokenFile))?.trim();
  return {
    rejectUnauthorized: !insecure,
    ca: await contentOf(certificateAuthority),
    cert: await contentOf(clientCertificate),
    key: await contentOf(clientKey === "" ? clientCertificate : clientKey),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}
