/** Answers of network plugins: failures and versions. Upstream: pkg/invoke and pkg/version of libcni. */
import { type ErrorCode, kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";

/** Bound on foreign text in a message. */
const MAX_QUOTED = 500;

/** Error codes of the specification that mean: try again later, not available, connectivity of pods is limited. */
const AWAY: ReadonlySet<unknown> = new Set([11, 50, 51]);
/** Failures of a plugin that fails before it knows VERSION. */
const UNKNOWN_COMMAND = "unknown CNI_COMMAND: VERSION";

/** The end of a plugin that failed. */
export interface FailedPlugin {
  /** `exit status 1`. */
  readonly how: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** The failure in words, and its kind. */
export interface PluginFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Returns foreign text for a message: trimmed, in quotation marks unless it is plain, and at most 500 characters. */
export function quotedText(text: string): string {
  const trimmed = text
    .slice(0, 2 * MAX_QUOTED)
    .trim()
    .slice(0, MAX_QUOTED);
  return /^[\x20-\x7e]*$/.test(trimmed) ? trimmed : JSON.stringify(trimmed);
}

/** Returns the failure that a plugin reported, or the way that it ended without a report. */
export function pluginFailure({ how, stdout, stderr }: FailedPlugin): PluginFailure {
  const report = parseJson(stdout);
  if (isJsonObject(report) && typeof report["msg"] === "string" && report["msg"] !== "") {
    const { code, msg, details } = report;
    const more = typeof details === "string" && details !== "" ? `; ${quotedText(details)}` : "";
    return { code: AWAY.has(code) ? "Unavailable" : "Io", message: `${quotedText(msg)}${more}` };
  }
  if (stdout.trim() !== "") return { code: "Io", message: `${how}: ${quotedText(stdout)}` };
  return { code: "Io", message: stderr.trim() === "" ? how : `${how}: ${quotedText(stderr)}` };
}

/** Returns whether a plugin failed because it is older than the command VERSION. */
export function isBeforeVersions({ stdout }: FailedPlugin): boolean {
  const report = parseJson(stdout);
  return isJsonObject(report) && report["msg"] === UNKNOWN_COMMAND;
}

/** Parses the answer to VERSION. Errors: Io. */
export function supportedVersions(stdout: string): Result<readonly string[]> {
  const answer = parseJson(stdout);
  if (!isJsonObject(answer)) return err(kubeletError("Io", `its answer is not a JSON object: ${quotedText(stdout)}`));
  const { cniVersion, supportedVersions: versions } = answer;
  if (Array.isArray(versions) && versions.length > 0) return ok(versions.filter((each) => typeof each === "string"));
  if (cniVersion === "0.2.0") return ok(["0.1.0", "0.2.0"]);
  return err(kubeletError("Io", "its answer names no versions"));
}
