/** Error responses of an API server: Status objects with the codes, reasons and texts of the real one. */
import { API_RESOURCES, type ApiResourceName } from "../api/apiResources.ts";
import { type ApiStatus, apiError } from "../api/apiStatus.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { FieldProblem } from "../pod/fieldProblem.ts";
import { qualifiedResource } from "./storedObject.ts";

type Details = NonNullable<ApiStatus["details"]>;

function failure(code: number, reason: string, message: string, details?: Details): ApiStatus {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return details === undefined ? status : { ...status, details };
}

const about = (resource: ApiResourceName, name: string): Details => {
  const { group } = API_RESOURCES[resource];
  return { name, kind: resource, ...(group === "" ? {} : { group }) };
};

/** The Status of a completed deletion. */
export const deletedStatus = (resource: ApiResourceName, name: string, uid: string): ApiStatus => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: { ...about(resource, name), uid },
});

/** 404: there is no such object. */
export const notFound = (resource: ApiResourceName, name: string): KubeletError =>
  apiError(failure(404, "NotFound", `${qualifiedResource(resource)} "${name}" not found`, about(resource, name)));

/** 409: an object of this name exists. */
export const alreadyExists = (resource: ApiResourceName, name: string): KubeletError =>
  apiError(
    failure(409, "AlreadyExists", `${qualifiedResource(resource)} "${name}" already exists`, about(resource, name)),
  );

/** 422: the propagation policy of a deletion is unknown. */
export function invalidOptions(policy: string, known: readonly string[]): KubeletError {
  const supported = [...known, "nil"].map((each) => `"${each}"`).join(", ");
  const why = `propagationPolicy: Unsupported value: "${policy}": supported values: ${supported}`;
  return apiError(failure(422, "Invalid", `DeleteOptions.meta.k8s.io "" is invalid: ${why}`));
}

/** 409: the object is in another state than the request requires. */
export const conflict = (resource: ApiResourceName, name: string, why: string): KubeletError =>
  apiError(
    failure(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${why}`,
      about(resource, name),
    ),
  );

/** 409: the write is based on an older version of the object. */
export const staleVersion = (resource: ApiResourceName, name: string): KubeletError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

/** 403: an admission plugin or authorization denies the request. */
export const forbidden = (resource: ApiResourceName, name: string, why: string): KubeletError =>
  apiError(
    failure(
      403,
      "Forbidden",
      `${qualifiedResource(resource)} ${name === "" ? "" : `"${name}" `}is forbidden: ${why}`,
      about(resource, name),
    ),
  );

/** 422: the object is invalid, with one cause per field. */
export function invalidObject(
  resource: ApiResourceName,
  name: string,
  problems: readonly FieldProblem[],
): KubeletError {
  const { kind, group } = API_RESOURCES[resource];
  const texts = problems.map(({ field, reason }) => `${field}: ${reason}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const causes = problems.map(({ field, reason }) => ({
    field,
    message: reason,
    reason: `FieldValue${(reason.split(":")[0] ?? "").replace(/ value$/, "").replaceAll(" ", "")}`,
  }));
  return apiError(
    failure(422, "Invalid", `${kind}${group === "" ? "" : `.${group}`} "${name}" is invalid: ${list}`, {
      name,
      kind,
      ...(group === "" ? {} : { group }),
      causes,
    }),
  );
}

/** 400: the request is malformed. */
export const badRequest = (message: string): KubeletError => apiError(failure(400, "BadRequest", message));

/** 415: the content type is not supported. */
export const unsupportedMediaType = (message: string): KubeletError =>
  apiError(failure(415, "UnsupportedMediaType", message));

/** The Status of a 410, as sent by a watch. */
export const expiredStatus = (message: string): ApiStatus => failure(410, "Expired", message);

/** 410: the version is no longer available. */
export const expired = (message: string): KubeletError => apiError(expiredStatus(message));

/** 504: a read at a version that the server has not reached. */
export const tooNew = (wanted: number, current: number): KubeletError =>
  apiError(
    failure(504, "Timeout", `Too large resource version: ${wanted}, current: ${current}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    }),
  );

/** 429: retry after this many seconds. */
export const tooManyRequests = (retryAfterSeconds = 1): KubeletError =>
  apiError(failure(429, "TooManyRequests", "Too many requests, please try again later.", { retryAfterSeconds }));

/** 500: a storage failure. */
export const internalError = (why = "etcdserver: request timed out"): KubeletError =>
  apiError(failure(500, "InternalError", `Internal error occurred: ${why}`));

/** 503: the server is starting or shutting down. */
export const serviceUnavailable = (): KubeletError =>
  apiError(failure(503, "ServiceUnavailable", "the server is currently unable to handle the request"));

/** No connection, so there is no Status. */
export const connectionRefused = (): KubeletError => kubeletError("Unavailable", "API server: connection refused");

/** The connection broke in the middle of a response. */
export const connectionLost = (): KubeletError => kubeletError("Unavailable", "API server: connection lost");
