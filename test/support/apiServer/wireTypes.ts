/**
 * Detects fields that the real server's decoder rejects, by Go type, with the decoder's error texts.
 * Only what comes over the wire can be wrong in this way, so that a simulation does not look.
 */
import { API_RESOURCES, type ApiResourceName, apiVersionOf } from "../../../src/core/api/apiResources.ts";
import { HttpRefusal } from "./answers.ts";

type GoType = "[]string" | "int32" | "int64" | "bool" | "string" | "[]" | "time" | "microTime";

/** Fields of each kind by path; `[]` stands for each element of a list. */
const TYPES: Readonly<Partial<Record<ApiResourceName, Readonly<Record<string, GoType>>>>> = {
  pods: {
    "status.startTime": "time",
    "status.observedGeneration": "int64",
    "status.conditions": "[]",
    "status.conditions[].lastProbeTime": "time",
    "status.conditions[].lastTransitionTime": "time",
    "status.containerStatuses": "[]",
    "status.containerStatuses[].restartCount": "int32",
    "status.containerStatuses[].ready": "bool",
    "status.initContainerStatuses": "[]",
    "status.podIPs": "[]",
    "status.hostIPs": "[]",
  },
  nodes: {
    "status.addresses": "[]",
    "status.conditions": "[]",
    "status.conditions[].lastHeartbeatTime": "time",
    "status.conditions[].lastTransitionTime": "time",
    "status.daemonEndpoints.kubeletEndpoint.Port": "int32",
    "status.images": "[]",
    "status.volumesInUse": "[]",
  },
  leases: {
    "spec.acquireTime": "microTime",
    "spec.leaseDurationSeconds": "int32",
    "spec.leaseTransitions": "int32",
    "spec.renewTime": "microTime",
  },
  events: {
    count: "int32",
    eventTime: "microTime",
    firstTimestamp: "time",
    lastTimestamp: "time",
  },
  certificatesigningrequests: { "spec.expirationSeconds": "int32", "spec.usages": "[]string" },
  subjectaccessreviews: { "spec.groups": "[]string", "spec.user": "string" },
};
const LAYOUTS = { time: "2006-01-02T15:04:05Z07:00", microTime: "2006-01-02T15:04:05.000000Z07:00" } as const;
const SECONDS = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`;
const ZONE = String.raw`(Z|[+-]\d\d:\d\d)$`;
const INSTANTS = {
  time: new RegExp(String.raw`${SECONDS}(\.\d+)?${ZONE}`),
  microTime: new RegExp(String.raw`${SECONDS}\.\d{6}${ZONE}`),
} as const;

/** Why the server cannot read an object it is sent, or would have after this patch: throws 400 or 422. */
export function checkWireTypes(resource: ApiResourceName, body: unknown, isPatch: boolean): void {
  for (const [path, type] of Object.entries(TYPES[resource] ?? {})) {
    for (const value of valuesAt(body, path.split("."))) {
      const fault = isPatch ? patchFault(value, type) : objectFault(value, type, fieldName(resource, path));
      if (fault === undefined) continue;
      if (isPatch)
        throw new HttpRefusal(422, "Invalid", ` "" is invalid: patch: Invalid value: ${goMap(body)}: ${fault}`);
      const info = API_RESOURCES[resource];
      const version = apiVersionOf(info).split("/").at(-1);
      const refused = `${info.kind} in version "${version}" cannot be handled as a ${info.kind}: ${fault}`;
      throw new HttpRefusal(400, "BadRequest", refused);
    }
  }
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): readonly unknown[] {
  if (step === undefined) return value === undefined || value === null ? [] : [value];
  const name = step.replace("[]", "");
  const member = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  if (name === step) return valuesAt(member, rest);
  return Array.isArray(member) ? member.flatMap((each: unknown) => valuesAt(each, rest)) : [];
}

const fieldName = (resource: ApiResourceName, path: string): string => {
  const { kind } = API_RESOURCES[resource];
  return path.startsWith("spec.") ? `${kind}Spec.${path}` : `${kind}.${path}`;
};

function timeFault(value: unknown, type: "time" | "microTime"): string | undefined {
  const text = String(value);
  if (INSTANTS[type].test(text)) return undefined;
  const [rest, wanted] = new RegExp(SECONDS).test(text)
    ? [text.slice(19), LAYOUTS[type].slice(19, type === "time" ? undefined : 26)]
    : [text, "2006"];
  return `parsing time ${JSON.stringify(text)} as "${LAYOUTS[type]}": cannot parse "${rest}" as "${wanted}"`;
}

function isOfType(value: unknown, type: Exclude<GoType, "time" | "microTime">): boolean {
  switch (type) {
    case "bool":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "int32":
    case "int64":
      return Number.isInteger(value);
    case "[]":
    case "[]string":
      return Array.isArray(value);
  }
}

function objectFault(value: unknown, type: GoType, field: string): string | undefined {
  if (type === "time" || type === "microTime") return timeFault(value, type);
  const given = Array.isArray(value) ? "array" : typeof value;
  return isOfType(value, type)
    ? undefined
    : `json: cannot unmarshal ${given} into Go struct field ${field} of type ${type}`;
}

function patchFault(value: unknown, type: GoType): string | undefined {
  if (type === "time" || type === "microTime") return timeFault(value, type);
  if (isOfType(value, type)) return undefined;
  return type.startsWith("[]") ? `cannot restore slice from ${typeof value}` : `unrecognized type: ${type}`;
}

/** Formats a decoded object like Go. */
const goMap = (body: unknown): string => JSON.stringify(goText(body));

function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value !== "object" || value === null) return value === null ? "<nil>" : String(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${goText(member)}`).join(" ")}]`;
}
