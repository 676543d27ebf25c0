/** Reads how a command in a container ended from its error stream. Upstream: the v4 error decoder of client-go. */
import { isJsonObject } from "../json.ts";

/** The exit code, or why the command could not run. */
export type CommandEnd =
  | { readonly kind: "exited"; readonly exitCode: number }
  | { readonly kind: "failed"; readonly message: string };

/** Reads the Status; an empty text means success. */
export function commandEnd(text: string): CommandEnd {
  if (text === "") return { kind: "exited", exitCode: 0 };
  const status = parsed(text);
  if (status?.["status"] === "Success") return { kind: "exited", exitCode: 0 };
  const exitCode = status?.["reason"] === "NonZeroExitCode" ? exitCodeOf(status["details"]) : undefined;
  if (exitCode !== undefined) return { kind: "exited", exitCode };
  const message = status?.["message"];
  return { kind: "failed", message: typeof message === "string" ? message : text.trim() };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function exitCodeOf(details: unknown): number | undefined {
  const causes =
    isJsonObject(details) && Array.isArray(details["causes"]) ? (details["causes"] as readonly unknown[]) : [];
  for (const cause of causes) {
    if (!isJsonObject(cause) || cause["reason"] !== "ExitCode") continue;
    const text = String(cause["message"]);
    if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
  }
  return undefined;
}
