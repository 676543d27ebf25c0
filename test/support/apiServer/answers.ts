/** Bodies of requests and answers as the real server has them: JSON, Status objects, a limit on what is sent. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiStatus } from "../../../src/core/api/apiStatus.ts";
import { toKubeletError } from "../../../src/core/errors.ts";

/** A request of either protocol: HTTP/2 is served through Node's compatibility API. */
export type ServerRequest = IncomingMessage;
/** A response of either protocol. */
export type ServerAnswer = ServerResponse;

/** Maximum body size of the real server. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** A refusal that comes before any object is looked at. */
export class HttpRefusal extends Error {
  readonly status: ApiStatus;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  }
}

/** The body as text. Rejects with 413 when it is too large. */
export async function readBody(request: ServerRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read an oversized body to its end, so that the client reads the response.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size <= MAX_BODY_BYTES) return Buffer.concat(chunks).toString("utf8");
  const message = `Request entity too large: limit is ${MAX_BODY_BYTES}`;
  throw new HttpRefusal(413, "RequestEntityTooLarge", message);
}

/** Parses a body. Throws 400. */
export function parseBody(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (thrown) {
    throw new HttpRefusal(400, "BadRequest", `the object provided is unrecognized: ${(thrown as Error).message}`);
  }
}

const MEDIA_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

const unknownFormat = (accepted: readonly string[]): HttpRefusal =>
  new HttpRefusal(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );

/** The media type of a request, without parameters. */
export const mediaTypeOf = ({ headers }: ServerRequest): string =>
  (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";

/** Throws 415 unless the body is what objects are sent as. */
export function checkObjectType(request: ServerRequest): void {
  const type = mediaTypeOf(request);
  if (type !== "" && type !== "application/json") throw unknownFormat(MEDIA_TYPES);
}

/** Throws 415 unless the type is that of a patch. */
export function checkPatchType<Type extends string>(type: string, accepted: readonly Type[]): asserts type is Type {
  if (!(accepted as readonly string[]).includes(type)) throw unknownFormat(accepted);
}

/** Throws 406 unless the client takes JSON. */
export function checkAccept({ headers }: ServerRequest): void {
  const accepted = (headers.accept ?? "*/*").split(",").map((each) => each.split(";")[0]?.trim() ?? "");
  if (accepted.some((each) => ["*/*", "application/*", "application/json"].includes(each))) return;
  const message = `only the following media types are accepted: ${MEDIA_TYPES.join(", ")}`;
  throw new HttpRefusal(406, "NotAcceptable", message);
}

/** Whether the client prefers the metadata of an object to all of it. */
export function isMetadataAccepted({ headers }: ServerRequest): boolean {
  const [first = ""] = (headers.accept ?? "").split(",");
  const parts = new Set(first.split(";").map((part) => part.trim()));
  return ["application/json", "as=PartialObjectMetadata", "g=meta.k8s.io", "v=v1"].every((part) => parts.has(part));
}

/** Sends JSON. */
export function sendJson(
  answer: ServerAnswer,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  answer.writeHead(code, { "content-type": "application/json", ...headers });
  answer.end(JSON.stringify(body));
}

/** Converts a thrown value to the server's Status; undefined breaks the connection without a response. */
export function statusOf(thrown: unknown): ApiStatus | undefined {
  if (thrown instanceof HttpRefusal) return thrown.status;
  return toKubeletError(thrown).cause as ApiStatus | undefined;
}

/** Sends a refusal, with the pause it asks for as the header real clients look at. */
export function sendStatus(answer: ServerAnswer, status: ApiStatus): void {
  const seconds = status.details?.retryAfterSeconds;
  sendJson(answer, status.code ?? 500, status, seconds === undefined ? {} : { "retry-after": String(seconds) });
}
