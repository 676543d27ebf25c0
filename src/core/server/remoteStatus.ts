/**
 * The final Status of a translated exec or attach: parses the runtime's Status like a SPDY client and formats it again.
 * Upstream: the v4 error decoder of client-go's remotecommand and StreamTranslatorHandler.
 */
import { isJsonObject } from "../json.ts";

/** Status of a successful command. */
const SUCCESS_STATUS = JSON.stringify({ metadata: {}, status: "Success" });

/** Returns the Status of a failure outside the command. */
export const internalErrorStatus = (message: string): string =>
  JSON.stringify({
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  });

function exitStatus(code: number): string {
  const message = `command terminated with non-zero exit code: command terminated with exit code ${code}`;
  const details = { causes: [{ reason: "ExitCode", message: String(code) }] };
  return JSON.stringify({ metadata: {}, status: "Failure", message, reason: "NonZeroExitCode", details });
}

/** Returns the client's Status for the runtime's error stream. */
export function translatedStatus(text: string): string {
  if (text === "") return SUCCESS_STATUS;
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch (thrown) {
    return internalErrorStatus(`error stream protocol error: ${(thrown as Error).message} in ${JSON.stringify(text)}`);
  }
  if (!isJsonObject(status)) return internalErrorStatus("error stream protocol error: unknown error");
  if (status["status"] === "Success") return SUCCESS_STATUS;
  if (status["status"] !== "Failure") return internalErrorStatus("error stream protocol error: unknown error");
  if (status["reason"] !== "NonZeroExitCode") return internalErrorStatus(String(status["message"] ?? ""));
  const { details } = status;
  if (!isJsonObject(details)) return internalErrorStatus("error stream protocol error: details must be set");
  const causes = Array.isArray(details["causes"]) ? (details["causes"] as readonly unknown[]) : [];
  const cause = causes.find((each) => isJsonObject(each) && each["reason"] === "ExitCode");
  if (!isJsonObject(cause)) return internalErrorStatus("error stream protocol error: no ExitCode cause given");
  const code = String(cause["message"]);
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255) {
    return internalErrorStatus(`error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  }
  return exitStatus(Number(code));
}
