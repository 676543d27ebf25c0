/** Connection options of a client of a kubelet's server: trusted authorities, and credentials from files. */
import { createReadStream } from "node:fs";
import type { RequestOptions } from "node:https";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";

/** Far above the size of any token, certificate or key. */
export const MAX_CREDENTIAL_BYTES = 4 * 1024 * 1024;

/** Reads a file with a bound. It may be a pipe, such as the output of a command in a shell, which may never end. */
async function contentOf(path: string): Promise<string | undefined> {
  if (path === "") return undefined;
  const pieces: Buffer[] = [];
  try {
    // A byte beyond the bound shows that the file is too long.
    for await (const piece of createReadStream(path, { end: MAX_CREDENTIAL_BYTES }) as AsyncIterable<Buffer>) {
      pieces.push(piece);
    }
  } catch (thrown) {
    throw ioError("read", path, thrown);
  }
  const content = Buffer.concat(pieces);
  if (content.length <= MAX_CREDENTIAL_BYTES) return content.toString("utf8");
  throw kubeletError("InvalidArgument", `cannot read ${path}: it has more than ${MAX_CREDENTIAL_BYTES} bytes`);
}

/** Returns the options of a request; plain HTTP ignores the TLS options. Rejects with Io for an unreadable file. */
export async function connectionOptions({
  certificateAuthority,
  insecure,
  clientCertificate,
  clientKey,
  tokenFile,
  local,
}: KubeletAccess): Promise<RequestOptions & { readonly headers: Record<string, string> }> {
  if (local !== undefined) return { socketPath: local.socket, headers: { authorization: `Bearer ${local.token}` } };
  const token = (await contentOf(tokenFile))?.trim();
  return {
    rejectUnauthorized: !insecure,
    ca: await contentOf(certificateAuthority),
    cert: await contentOf(clientCertificate),
    key: await contentOf(clientKey === "" ? clientCertificate : clientKey),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}
