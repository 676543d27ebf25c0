/** Error responses over HTTP: the server's Status, or the page of a proxy in front of it. */
import type { KubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { type ApiStatus, apiError } from "./apiStatus.ts";

/** A response with an error status. */
export interface HttpRefusal {
  readonly status: number;
  /** Value of the header `Retry-After`. */
  readonly retryAfter: string | undefined;
  readonly body: string;
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [409, "Conflict"],
  [410, "Gone"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);
/** Characters of another server's page that a message quotes. */
const MAX_REPORTED = 200;

/** Returns the seconds a server asks to wait. Dates, which API servers do not send, are ignored, as in client-go. */
const secondsOf = (retryAfter: string | undefined): number | undefined =>
  retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) : undefined;

function statusOf({ status, body }: HttpRefusal, request: string): ApiStatus {
  const reported = parseJson(body);
  if (isJsonObject(reported) && reported["kind"] === "Status") return { ...(reported as ApiStatus), code: status };
  const words = body.trim().replace(/\s+/g, " ").slice(0, MAX_REPORTED);
  const message = `${request}: the server answered ${status}${words === "" ? "" : `: ${words}`}`;
  return {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: REASONS.get(status) ?? "Unknown",
    message,
    code: status,
  };
}

/** Returns the error of a rejected request; `request` names it when the response does not. */
export function answerError(refusal: HttpRefusal, request: string): KubeletError {
  const status = statusOf(refusal, request);
  const retryAfterSeconds = status.details?.retryAfterSeconds ?? secondsOf(refusal.retryAfter);
  if (retryAfterSeconds === undefined) return apiError(status);
  return apiError({ ...status, details: { ...status.details, retryAfterSeconds } });
}
