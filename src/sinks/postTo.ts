/** One POST without body to a kubelet, with the credentials of files. Bounds: 10 s, 64 KiB of answer. */
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";

/** Paths; an empty one is not given. */
export interface PostAccess {
  readonly certificateAuthority: string;
  /** Takes any certificate of the server. */
  readonly insecure: boolean;
  readonly clientCertificate: string;
  /** Empty: the key is in the file of the certificate. */
  readonly clientKey: string;
  readonly tokenFile: string;
}

const ANSWER_WITHIN_MS = 10_000;
const MAX_BYTES = 65_536;

/** Asks; errors with Unavailable when nobody answers, and with Io for a file that cannot be read. */
export const postTo = (url: string, access: PostAccess): Call<{ readonly status: number; readonly text: string }> =>
  fromCall((signal) => post(url, access, signal));

const contentOf = async (path: string): Promise<string | undefined> => {
  if (path === "") return undefined;
  return readFile(path, "utf8").catch((thrown: unknown) => {
    throw ioError("read", path, thrown);
  });
};

async function post(
  url: string,
  { certificateAuthority, insecure, clientCertificate, clientKey, tokenFile }: PostAccess,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const token = (await contentOf(tokenFile))?.trim();
  const options = {
    method: "POST",
    signal,
    timeout: ANSWER_WITHIN_MS,
    rejectUnauthorized: !insecure,
    ca: await contentOf(certificateAuthority),
    cert: await contentOf(clientCertificate),
    key: await contentOf(clientKey === "" ? clientCertificate : clientKey),
    headers: { "content-length": "0", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  };
  return new Promise((resolve, reject) => {
    const failed = (thrown: Error) => reject(kubeletError("Unavailable", `no answer from ${url}: ${thrown.message}`));
    const asked = request(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
        if (text.length > MAX_BYTES) answer.destroy(new Error(`the answer is larger than ${MAX_BYTES} bytes`));
      });
      answer.on("error", failed);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on("timeout", () => asked.destroy(new Error(`nothing for ${ANSWER_WITHIN_MS} ms`)));
    asked.on("error", failed);
    asked.end();
  });
}
