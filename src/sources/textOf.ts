/** One GET of a text by undici, for commands that ask a server. Bounds: 10 s, 16 MiB. */
import { kubeletError } from "../core/errors.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";

const ANSWER_WITHIN_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** What a server answered. */
export interface TextAnswer {
  readonly status: number;
  readonly text: string;
}

/** Asks for a text; errors with Unavailable when nobody answers. */
export const textOf = (url: string): Call<TextAnswer> => fromCall((signal) => get(url, signal));

async function get(url: string, signal: AbortSignal): Promise<TextAnswer> {
  const { request } = await import("undici");
  const limits = { signal, headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS };
  try {
    const { statusCode, body } = await request(url, limits);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    }
    return { status: statusCode, text: Buffer.concat(chunks).toString("utf8") };
  } catch (thrown) {
    throw kubeletError("Unavailable", thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}
