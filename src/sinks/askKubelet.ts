/**
 * A short request to a kubelet's server, with credentials read from files. Bounds: 10 s without a byte, one minute in
 * total, a 16 MiB response.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { connectionOptions } from "./kubeletConnection.ts";

const SILENCE_MS = 10_000;
const WHOLE_ANSWER_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** The response of a server. */
export interface TextAnswer {
  readonly status: number;
  readonly text: string;
}

/** Parts of a request besides its credentials. */
export interface RequestParts {
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends the request. Errors: Unavailable without a response in time, Io for an unreadable file. */
export const askKubelet = (
  method: "GET" | "POST" | "DELETE",
  url: string,
  access: KubeletAccess,
  clock: Clock,
  parts: RequestParts = {},
): Call<TextAnswer> =>
  fromCall((signal) => ask(method, url, access, signal, parts)).pipe(deadline(WHOLE_ANSWER_MS, clock, isLate));

const NOTHING = new Uint8Array();

const isLate = (): KubeletError => kubeletError("Unavailable", `no whole answer within ${WHOLE_ANSWER_MS} ms`);

async function ask(
  method: string,
  url: string,
  access: KubeletAccess,
  signal: AbortSignal,
  { body = NOTHING, headers: more = {} }: RequestParts,
): Promise<TextAnswer> {
  const { headers, ...connection } = await connectionOptions(access);
  const options = {
    ...{ ...connection, method, signal, timeout: SILENCE_MS },
    headers: { ...more, ...headers, "content-length": String(body.length) },
  };
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const failed = (thrown: Error) => reject(kubeletError("Unavailable", thrown.message, { cause: thrown }));
    const asked = request(url, options, (answer) => {
      const parts: Buffer[] = [];
      let length = 0;
      answer.on("data", (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length > MAX_BYTES) answer.destroy(new Error(`the answer is larger than ${MAX_BYTES} bytes`));
      });
      answer.on("error", failed);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
    });
    asked.on("timeout", () => asked.destroy(new Error(`nothing for ${SILENCE_MS} ms`)));
    asked.on("error", failed);
    asked.end(body);
  });
}
