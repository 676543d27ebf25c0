/**
 * Parses image references and completes them: `busybox` is `docker.io/library/busybox:latest`.
 * Bound: 255 characters for the path. Upstream: distribution/reference's ParseNormalizedNamed, parsers.
 */
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** The parts of a reference. */
export interface ImageRef {
  /** Registry, for example `docker.io` or `localhost:5000`. */
  readonly domain: string;
  /** Path within the registry, for example `library/busybox`. */
  readonly path: string;
  /** `latest` when neither tag nor digest is given; undefined with a digest alone. */
  readonly tag: string | undefined;
  /** `sha256:...`, when given. */
  readonly digest: string | undefined;
  /** `domain/path`. */
  readonly repository: string;
  /** The complete reference in canonical form. */
  readonly canonical: string;
  /** The reference to pull: as written, with the default tag when it has neither tag nor digest. */
  readonly pullName: string;
}

const DEFAULT_DOMAIN = "docker.io";
const LEGACY_DOMAIN = "index.docker.io";
const OFFICIAL = "library/";
const MAX_REPOSITORY_LENGTH = 255;
const INVALID = "invalid reference format";

const DOMAIN =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::\d+)?$/;
const PATH = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const BARE_ID = /^[a-f0-9]{64}$/;
const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

interface Split {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

function split(text: string): Split {
  const at = text.indexOf("@");
  const before = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const colon = before.lastIndexOf(":");
  // A colon before the last slash belongs to the registry's port.
  if (colon <= before.lastIndexOf("/")) return { name: before, tag: undefined, digest };
  return { name: before.slice(0, colon), tag: before.slice(colon + 1), digest };
}

function splitDomain(name: string): { readonly domain: string; readonly path: string } {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const isDomain = /[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first;
  const domain = isDomain ? first : DEFAULT_DOMAIN;
  const path = isDomain ? name.slice(slash + 1) : name;
  const isDocker = domain === DEFAULT_DOMAIN || domain === LEGACY_DOMAIN;
  if (!isDocker) return { domain, path };
  return { domain: DEFAULT_DOMAIN, path: path.includes("/") ? path : `${OFFICIAL}${path}` };
}

/** Returns the problem of a well-formed digest. */
function digestProblem(digest: string): string | undefined {
  const [algorithm = "", hex = ""] = digest.split(":");
  const length = DIGEST_LENGTHS.get(algorithm);
  if (length === undefined) return "unsupported digest algorithm";
  if (hex.length !== length) return "invalid checksum digest length";
  return hex === hex.toLowerCase() ? undefined : "invalid checksum digest format";
}

function problemOf({ name, tag, digest }: Split, domain: string, path: string): string | undefined {
  if (BARE_ID.test(name)) return `invalid repository name (${name}), cannot specify 64-byte hexadecimal strings`;
  // Upstream's message contains the digest up to its first colon.
  const remote = tag === undefined && digest !== undefined ? `${path}@${digest.split(":")[0]}` : path;
  if (remote !== remote.toLowerCase()) return `${INVALID}: repository name (${remote}) must be lowercase`;
  if (!DOMAIN.test(domain) || !PATH.test(path) || (tag !== undefined && !TAG.test(tag))) return INVALID;
  if (digest !== undefined && !DIGEST.test(digest)) return INVALID;
  if (path.length > MAX_REPOSITORY_LENGTH) {
    return `repository name must not be more than ${MAX_REPOSITORY_LENGTH} characters`;
  }
  return digest === undefined ? undefined : digestProblem(digest);
}

/** Builds the error for an invalid reference. */
function invalidImageName(text: string, problem: string): KubeletError {
  const message = `Failed to apply default image tag "${text}": couldn't parse image name "${text}": ${problem}`;
  return kubeletError("InvalidArgument", message, { reason: "InvalidImageName" });
}

/** Parses and completes a reference. Errors: InvalidArgument with reason InvalidImageName. */
export function parseImageRef(text: string): Result<ImageRef> {
  const parts = split(text);
  const { domain, path } = splitDomain(parts.name);
  const problem = problemOf(parts, domain, path);
  if (problem !== undefined) return err(invalidImageName(text, problem));
  const tag = parts.tag ?? (parts.digest === undefined ? "latest" : undefined);
  const repository = `${domain}/${path}`;
  const suffix = `${tag === undefined ? "" : `:${tag}`}${parts.digest === undefined ? "" : `@${parts.digest}`}`;
  const isBare = parts.tag === undefined && parts.digest === undefined;
  return ok({
    domain,
    path,
    tag,
    digest: parts.digest,
    repository,
    canonical: `${repository}${suffix}`,
    pullName: isBare ? `${text}:latest` : text,
  });
}
