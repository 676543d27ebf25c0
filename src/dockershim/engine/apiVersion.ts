/** The version of the Engine API that Docker and the shim both speak. Pure. */
import { status } from "@grpc/grpc-js";
import { isJsonObject } from "../../core/json.ts";
import { EngineFault, garbled } from "./engineFault.ts";

/** A version of the Engine API. */
export interface ApiVersion {
  /** Text of the version, for example `1.41`. */
  readonly text: string;
  /** Version of Docker itself, for example `20.10.24`. */
  readonly engine: string;
  /** Whether the version is this one or a later one of its major. */
  atLeast(minor: number): boolean;
}

const MAJOR = 1;
/** Docker 20.10: the first with private cgroup namespaces and single readings of statistics. */
const OLDEST_MINOR = 41;
/** Docker 28. */
const NEWEST_MINOR = 51;
const MAX_VERSION = 128;

/**
 * Returns the newest version that both sides speak, from the answer to `/version`. Throws FAILED_PRECONDITION for a
 * Docker that is too old or too new, INTERNAL for an answer that names no version.
 */
export function apiVersionOf(answer: unknown): ApiVersion {
  const fields = isJsonObject(answer) ? answer : {};
  const newest = minorOf(fields["ApiVersion"]);
  if (newest === undefined) throw garbled("GET /version", "the answer names no API version 1.x: is this Docker?");
  const oldest = minorOf(fields["MinAPIVersion"]) ?? 0;
  const engine = typeof fields["Version"] === "string" ? fields["Version"].slice(0, MAX_VERSION) : "unknown";
  const spoken = `this Docker (${engine}) speaks API 1.${oldest} to 1.${newest}, rxlet speaks 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`;
  if (newest < OLDEST_MINOR) {
    throw new EngineFault(status.FAILED_PRECONDITION, `docker: ${spoken}: Docker 20.10 or later is needed`);
  }
  if (oldest > NEWEST_MINOR) {
    throw new EngineFault(status.FAILED_PRECONDITION, `docker: ${spoken}: a newer rxlet is needed`);
  }
  const minor = Math.min(newest, NEWEST_MINOR);
  return { text: `${MAJOR}.${minor}`, engine, atLeast: (wanted) => minor >= wanted };
}

function minorOf(value: unknown): number | undefined {
  const [, minor] = (typeof value === "string" && /^1\.(\d{1,3})$/.exec(value)) || [];
  return minor === undefined ? undefined : Number(minor);
}
