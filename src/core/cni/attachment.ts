/**
 * Attachments of sandboxes to networks, as libcni keeps them on disk: file names and JSON are the same, so DEL works
 * after a change of the configuration, of the runtime or of the program that added the sandbox.
 * Upstream: cachedInfo in libcni/api.go.
 */
import { decodeBase64, encodeBase64 } from "../base64.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import type { CniArgs } from "./sandboxArgs.ts";

const KIND = "cniCacheV1";

/** Key of an attachment. */
export interface AttachmentKey {
  readonly network: string;
  readonly id: string;
  readonly ifName: string;
}

/** An attachment that exists, or that an ADD has begun: then `result` is absent. */
export interface Attachment extends AttachmentKey {
  /** The network's list of plugins when it was added. */
  readonly config: string;
  readonly netns: string;
  readonly args: CniArgs;
  readonly capabilityArgs: Readonly<Record<string, unknown>>;
  readonly result?: object;
}

/** Returns the name of the file. */
export const attachmentFile = ({ network, id, ifName }: AttachmentKey): string => `${network}-${id}-${ifName}`;

/** Returns whether a file of this name may be an attachment of the sandbox. */
export const mayBelongTo = (file: string, id: string): boolean => {
  const at = file.indexOf(`-${id}-`);
  return at > 0 && at + id.length + 2 < file.length;
};

/** Returns the content of the file. */
export function formatAttachment({ network, id, ifName, config, netns, args, capabilityArgs, result }: Attachment) {
  return JSON.stringify({
    kind: KIND,
    containerId: id,
    config: encodeBase64(new TextEncoder().encode(config)),
    ifName,
    networkName: network,
    ...(netns === "" ? {} : { netns }),
    ...(args.length === 0 ? {} : { cniArgs: args }),
    ...(Object.keys(capabilityArgs).length === 0 ? {} : { capabilityArgs }),
    ...(result === undefined ? {} : { result }),
  });
}

/** Parses the content of a file. Errors: InvalidArgument for a file that libcni would not read either. */
export function parseAttachment(text: string): Result<Attachment> {
  const document = parseJson(text);
  const wrong = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));
  if (!isJsonObject(document)) return wrong("it is not a JSON object");
  const { kind, containerId, config, ifName, networkName, netns, cniArgs, capabilityArgs, result } = document;
  if (kind !== KIND) return wrong(`its kind is not ${KIND}`);
  if (!isName(containerId) || !isName(ifName) || !isName(networkName)) return wrong("it lacks a part of its key");
  const decoded = typeof config === "string" ? decoded64(config) : undefined;
  if (decoded === undefined) return wrong("its config is not base64 text");
  if (cniArgs !== undefined && !isArgs(cniArgs)) return wrong("its cniArgs are not pairs of texts");
  return ok({
    network: networkName,
    id: containerId,
    ifName,
    config: decoded,
    netns: typeof netns === "string" ? netns : "",
    args: cniArgs ?? [],
    capabilityArgs: isJsonObject(capabilityArgs) ? capabilityArgs : {},
    ...(isJsonObject(result) ? { result } : {}),
  });
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

const isArgs = (value: unknown): value is CniArgs =>
  Array.isArray(value) &&
  value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === "string"));

function decoded64(text: string): string | undefined {
  try {
    return new TextDecoder().decode(decodeBase64(text));
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the attachment is garbage where only these sandboxes exist. Another runtime may keep its attachments
 * in the same directory: a namespace that still exists outside of Docker's places belongs to it.
 */
export function isLeft({ id, netns }: Attachment, live: ReadonlySet<string>, netnsExists: boolean): boolean {
  if (live.has(id)) return false;
  return !netnsExists || netns === "" || DOCKER_PLACES.some((place) => netns.startsWith(place));
}

/** Paths of namespaces that Docker made: the dockershim names them by a process. */
const DOCKER_PLACES = ["/proc/", "/var/run/docker/netns/", "/run/docker/netns/"];
