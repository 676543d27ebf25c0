/**
 * Pulls of images. Bounds: a million lines of progress of 1 MiB, of 10,000 layers, and a minute without any: a registry
 * that hangs fails the pull, and so does a Docker that talks forever.
 * Upstream: PullImage of libdocker in cri-dockerd.
 */
import { status } from "@grpc/grpc-js";
import type { AuthConfig } from "../gen/cri.ts";
import { invalidArgument, RpcFault } from "../grpcServer/rpcFault.ts";
import type { Engine } from "./engine/engine.ts";
import { EngineFault, shortened } from "./engine/engineFault.ts";
import { fieldsOf, numberOf, textOf } from "./engine/fields.ts";
import { imageDetails } from "./engine/images.ts";

const MAX_LINE_BYTES = 1024 * 1024;
const MAX_PROGRESS_LINES = 1_000_000;
/** Layers of an image, and characters in the name of a layer. */
const MAX_LAYERS = 10_000;
const MAX_LAYER_NAME = 256;
const PROGRESS_MS = 60_000;
const MAX_NAME = 4096;
/** Names, tags, digests and ids; no dot segments, since the name is part of a path. */
const NAME = /^[\w.\-:/@[\]]+$/;

/** Returns the name. Throws INVALID_ARGUMENT for what names no image. */
export function checkedImage(name: string): string {
  const isName = name.length <= MAX_NAME && NAME.test(name) && !name.split("/").some((part) => /^\.*$/.test(part));
  if (!isName) throw invalidArgument("image.image", `"${name.slice(0, 256)}" names no image`);
  return name;
}

/** The path of an image in the API. */
export const imagePath = (name: string): string => `/images/${checkedImage(name)}/json`;

/** Splits a name as Docker wants it; without a tag it would pull them all. */
export function pullQuery(name: string): { readonly fromImage: string; readonly tag: string } {
  const at = name.indexOf("@");
  if (at !== -1) return { fromImage: withoutTag(name.slice(0, at)), tag: name.slice(at + 1) };
  const bare = withoutTag(name);
  return { fromImage: bare, tag: name.slice(bare.length + 1) || "latest" };
}

function withoutTag(name: string): string {
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
}

/** The header with credentials: JSON in base64 for URLs, padded, or Docker ignores it. */
export function registryAuth(auth: AuthConfig | undefined): Record<string, string> {
  if (auth === undefined) return {};
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(auth.auth, "base64").toString()) ?? [];
  const credentials = {
    username: auth.username || username,
    password: auth.password || password,
    serveraddress: auth.serverAddress,
    identitytoken: auth.identityToken,
    registrytoken: auth.registryToken,
  };
  const text = Buffer.from(JSON.stringify(credentials)).toString("base64");
  return { "X-Registry-Auth": text.replaceAll("+", "-").replaceAll("/", "_") };
}

/**
 * Pulls an image; resolves with its id. Rejects with what Docker or the registry says, or after `progressMs` without
 * progress.
 */
export async function pullImage(
  engine: Engine,
  name: string,
  auth: AuthConfig | undefined,
  signal: AbortSignal,
  progressMs = PROGRESS_MS,
): Promise<string> {
  checkedImage(name);
  const stalled = new AbortController();
  const watch = setTimeout(() => stalled.abort(), progressMs);
  try {
    const progress = await engine.stream({
      method: "POST",
      path: "/images/create",
      query: pullQuery(name),
      headers: registryAuth(auth),
      deadlineMs: progressMs,
      maxBytes: MAX_LINE_BYTES,
      signal: AbortSignal.any([signal, stalled.signal]),
    });
    await follow(name, progress, () => watch.refresh());
  } catch (thrown) {
    if (!stalled.signal.aborted || signal.aborted) throw thrown;
    throw new EngineFault(status.DEADLINE_EXCEEDED, `docker: pull of ${name}: no progress for ${progressMs} ms`);
  } finally {
    clearTimeout(watch);
  }
  return imageDetails(await engine.call({ method: "GET", path: imagePath(name) })).id;
}

/** Progress is a line that differs from the last one of its layer: a line said again and again is none. */
async function follow(name: string, lines: AsyncIterable<unknown>, onProgress: () => void): Promise<void> {
  const last = new Map<string, string>();
  let count = 0;
  for await (const line of lines) {
    const fields = fieldsOf(line);
    const error = textOf(fields, "error");
    if (error !== "") throw pullFailure(name, error, numberOf(fieldsOf(fields["errorDetail"]), "code"));
    count += 1;
    if (count > MAX_PROGRESS_LINES || last.size > MAX_LAYERS)
      throw new RpcFault(status.RESOURCE_EXHAUSTED, `docker: pull of ${name}: no end`);
    const detail = fieldsOf(fields["progressDetail"]);
    const now = `${textOf(fields, "status").slice(0, MAX_LAYER_NAME)} ${numberOf(detail, "current")}`;
    const layer = textOf(fields, "id").slice(0, MAX_LAYER_NAME);
    if (last.get(layer) === now) continue;
    last.set(layer, now);
    onProgress();
  }
}

const BAD_GATEWAYS: ReadonlySet<number> = new Set([502, 503, 504]);

/** The registry's pages about bad gateways are long: CRI has a word for them. */
function pullFailure(name: string, error: string, code: number): EngineFault {
  const prefix = BAD_GATEWAYS.has(code) ? "RegistryUnavailable: " : "";
  return new EngineFault(status.UNKNOWN, `${prefix}docker: pull of ${name}: ${shortened(error)}`, code || undefined);
}
