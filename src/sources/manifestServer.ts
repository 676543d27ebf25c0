/** The ManifestServer port on undici. Bounds: the caller's deadline per request, `maxBytes` per body. */
import type { Response } from "undici";
import { kubeletError } from "../core/errors.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { ManifestConditions, ManifestResponse, ManifestServer } from "../ports/manifestServer.ts";
import { MAX_MANIFEST_BYTES } from "./manifestDirectory.ts";

export interface ManifestServerOptions {
  readonly url: string;
  /** `staticPodURLHeader`: values by name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly maxBytes?: number;
}

/** Creates the port for a URL. */
export function manifestServer({ url, headers, maxBytes = MAX_MANIFEST_BYTES }: ManifestServerOptions): ManifestServer {
  const own = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value]));
  return {
    get: (conditions) =>
      fromCall((signal) =>
        get(url, [...own, ...conditionalHeaders(conditions)] as [string, string][], maxBytes, signal),
      ),
  };
}

const conditionalHeaders = ({ etag, lastModified }: ManifestConditions): readonly (readonly [string, string])[] => [
  ...(etag === undefined ? [] : [["if-none-match", etag] as const]),
  ...(lastModified === undefined ? [] : [["if-modified-since", lastModified] as const]),
];

async function get(
  url: string,
  headers: [string, string][],
  maxBytes: number,
  signal: AbortSignal,
): Promise<ManifestResponse> {
  // Loaded with the first request: most nodes have no manifest URL.
  const { fetch } = await import("undici");
  let response: Response;
  try {
    response = await fetch(url, { headers, signal, redirect: "follow" });
  } catch (thrown) {
    throw kubeletError("Unavailable", `no answer: ${reasonOf(thrown)}`, { cause: thrown });
  }
  const body = response.status === 200 ? await bodyOf(response, maxBytes) : await discarded(response);
  return {
    status: response.status,
    body,
    etag: response.headers.get("etag") ?? undefined,
    lastModified: response.headers.get("last-modified") ?? undefined,
  };
}

/** Returns the reason of a failed fetch, which is the cause of its error. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  if (cause instanceof Error) return "code" in cause ? `${String(cause.code)} ${cause.message}` : cause.message;
  return String(cause);
}

async function discarded(response: Response): Promise<Uint8Array> {
  await response.body?.cancel();
  return new Uint8Array(0);
}

async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      const bytes = chunk as Uint8Array;
      length += bytes.length;
      if (length > maxBytes) break;
      chunks.push(bytes);
    }
  } catch (thrown) {
    throw kubeletError("Unavailable", `the answer broke off: ${reasonOf(thrown)}`, { cause: thrown });
  }
  if (length > maxBytes) throw kubeletError("ResourceExhausted", `the answer is larger than ${maxBytes} bytes`);
  return Buffer.concat(chunks, length);
}
