/**
 * The CloudMetadata port over HTTP, on undici. Sends each request to the host of the URL alone: redirects and proxies are
 * not followed. State: the session token of a service with tokens, until shortly before it expires.
 * Bounds: one request at a time, REQUEST_MS each, bodies of MAX_BODY bytes.
 */
import type { Agent } from "undici";
import { type MetadataAnswers, type MetadataLayout } from "../core/cloud/metadataLayout.ts";
import { isKubeletError, kubeletError } from "../core/errors.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { CloudMetadata } from "../ports/cloudMetadata.ts";

/** Address of the service in every cloud that has one. */
export const METADATA_URL = "http://169.254.169.254";

const MAX_BODY = 64 * 1024;
const REQUEST_MS = 5_000;
const TOKEN_PATH = "/latest/api/token";
const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
const TOKEN_HEADER = "x-aws-ec2-metadata-token";
/** The longest that EC2 grants. */
const TOKEN_TTL_SECONDS = 21_600;
/** Fraction of its life that a token is used. */
const TOKEN_USE = 0.9;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

export interface CloudMetadataOptions {
  readonly layout: MetadataLayout;
  /** Scheme, host and port; no path. */
  readonly url: string;
  readonly clock: Clock;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Token {
  readonly text: string;
  readonly usedUntil: number;
}

/** Creates the port. The token outlives a call; connections do not. */
export function createCloudMetadata({ layout, url, clock }: CloudMetadataOptions): CloudMetadata {
  let token: Token | undefined;

  const renew = async (send: Send): Promise<Token> => {
    const sentAt = clock.monotonicMs();
    const { status, body, headers } = await send("PUT", TOKEN_PATH, { [TTL_HEADER]: String(TOKEN_TTL_SECONDS) });
    if (status !== 200) throw refusal(TOKEN_PATH, status);
    if (!TOKEN.test(body)) throw kubeletError("InvalidArgument", `${TOKEN_PATH}: the answer is no token`);
    const seconds = Number(headers[TTL_HEADER] ?? TOKEN_TTL_SECONDS);
    const lifeMs = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), TOKEN_TTL_SECONDS) * 1_000 : 0;
    token = { text: body, usedUntil: sentAt + lifeMs * TOKEN_USE };
    return token;
  };
  const tokenNow = async (send: Send): Promise<Token> =>
    token !== undefined && clock.monotonicMs() < token.usedUntil ? token : renew(send);

  const read = async (send: Send, path: string): Promise<string | undefined> => {
    if (!layout.needsToken) return textOf(path, await send("GET", path, {}));
    const held = await tokenNow(send);
    const answer = await send("GET", path, { [TOKEN_HEADER]: held.text });
    // The service has forgotten the token, after a restart or a migration of the machine.
    if (answer.status !== 401) return textOf(path, answer);
    const fresh = await renew(send);
    return textOf(path, await send("GET", path, { [TOKEN_HEADER]: fresh.text }));
  };

  const readAll = async (send: Send): Promise<MetadataAnswers> => {
    const answers = new Map<string, string>();
    for (const path of layout.paths) {
      const text = await read(send, path);
      if (text !== undefined) answers.set(path, text);
    }
    return answers;
  };

  return {
    instance: () =>
      fromCall(async (signal) => {
        const { Agent } = await import("undici");
        const limits = { headersTimeout: REQUEST_MS, bodyTimeout: REQUEST_MS, connectTimeout: REQUEST_MS };
        const agent = new Agent({ connections: 1, pipelining: 1, maxResponseSize: MAX_BODY, ...limits });
        try {
          const instance = layout.read(await readAll(sender(agent, url, signal)));
          if (!instance.ok) throw instance.error;
          return instance.value;
        } finally {
          await agent.destroy();
        }
      }),
  };
}

type Send = (method: "GET" | "PUT", path: string, headers: Readonly<Record<string, string>>) => Promise<Answer>;

const sender =
  (agent: Agent, url: string, signal: AbortSignal): Send =>
  async (method, path, headers) => {
    try {
      const {
        statusCode,
        headers: received,
        body,
      } = await agent.request({ origin: url, path, method, headers, signal });
      return { status: statusCode, body: (await body.text()).trim(), headers: received };
    } catch (thrown) {
      throw isKubeletError(thrown) ? thrown : sendError(path, thrown);
    }
  };

function sendError(path: string, thrown: unknown) {
  const { code, message } = thrown as { readonly code?: unknown; readonly message?: unknown };
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return kubeletError("ResourceExhausted", `${path}: the answer is larger than ${MAX_BODY} bytes`);
  }
  return kubeletError("Unavailable", `${path}: no answer: ${String(code ?? message)}`, { cause: thrown });
}

/** Returns the fact; undefined when the service has none. */
function textOf(path: string, { status, body }: Answer): string | undefined {
  if (status === 200) return body;
  if (status === 404) return undefined;
  throw refusal(path, status);
}

function refusal(path: string, status: number) {
  const what = status >= 300 && status < 400 ? ", a redirect, which is not followed" : "";
  return kubeletError("Unavailable", `${path}: answered with status ${status}${what}`);
}
