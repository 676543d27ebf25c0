/** Strategies of all resources: defaults, the fields that a request may change, validation. */
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { duplicate, type FieldProblem, forbidden, invalid, required } from "../../core/pod/fieldProblem.ts";
import { sameValue } from "../../core/sameValue.ts";
import { certificateStrategy } from "./certificateStrategy.ts";
import { nodeChangeProblems, nodeProblems } from "./nodeStrategy.ts";
import { podStrategy } from "./podStrategy.ts";
import type { Strategy, Subresource } from "./strategy.ts";
import { type ApiObject, fieldAt, type StoredObject } from "../../core/apiObjects/storedObject.ts";

/** Separates writes of the status from those of the rest of the object. */
function splitStatus(object: ApiObject, old: StoredObject, subresource: Subresource): ApiObject {
  const { status: oldStatus, ...oldRest } = old;
  if (subresource === undefined) {
    const { status: _ignored, ...rest } = object;
    return oldStatus === undefined ? rest : { ...rest, status: oldStatus };
  }
  return { ...oldRest, metadata: object.metadata, status: object["status"] };
}

const whole: Strategy = {
  unconditionalUpdate: true,
  createOnUpdate: false,
  subresources: [],
  prepareCreate: (object) => object,
  prepareUpdate: (object) => object,
  validateCreate: () => [],
  validateUpdate: () => [],
};
const withStatus: Strategy = { ...whole, subresources: ["status"], prepareUpdate: splitStatus };
const withoutFirstStatus = ({ status: _ignored, ...object }: ApiObject): ApiObject => object;

/** Rejects changes to data that its owner declared immutable. */
function validateImmutable(object: ApiObject, old: StoredObject): readonly FieldProblem[] {
  if (old["immutable"] !== true) return [];
  const fields = ["data", "binaryData", "type"].filter((field) => !sameValue(object[field], old[field]));
  const reopened = object["immutable"] !== true ? ["immutable"] : [];
  return [...reopened, ...fields].map((field) => forbidden(field, "field is immutable when `immutable` is set"));
}

function withSecretData({ stringData, ...object }: ApiObject): ApiObject {
  const texts = Object.entries((stringData ?? {}) as Readonly<Record<string, string>>);
  const encoded = texts.map(([key, text]) => [key, btoa(String.fromCharCode(...new TextEncoder().encode(text)))]);
  return {
    ...object,
    data: { ...(object["data"] as object | undefined), ...Object.fromEntries(encoded) },
    type: object["type"] ?? "Opaque",
  };
}

function validateLease(object: ApiObject): readonly FieldProblem[] {
  const seconds = fieldAt(object, "spec.leaseDurationSeconds") ?? 1;
  const transitions = fieldAt(object, "spec.leaseTransitions") ?? 0;
  return [
    ...(Number(seconds) > 0 ? [] : [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")]),
    ...(Number(transitions) >= 0
      ? []
      : [invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]),
  ];
}

function validateEvent(object: ApiObject): readonly FieldProblem[] {
  // Validation of the newer kind of event is stricter than that of the kind the kubelet writes.
  const isNewer = typeof object["eventTime"] === "string";
  if (isNewer && !object["reportingComponent"]) return [required("reportingComponent")];
  const where = object.metadata?.namespace ?? "";
  const about = String(fieldAt(object, "involvedObject.namespace") ?? "");
  if (about === "" ? where === "default" || where === "kube-system" : about === where) return [];
  return [invalid("involvedObject.namespace", about, "does not match event.namespace")];
}

/** Each driver of a CSINode has a distinct name and a node ID. */
const csiNodeProblems = (object: ApiObject): readonly FieldProblem[] => {
  const drivers = (fieldAt(object, "spec.drivers") ?? []) as readonly {
    readonly name: string;
    readonly nodeID: string;
  }[];
  return drivers.flatMap(({ name, nodeID }, index) => [
    ...(drivers.findIndex((each) => each.name === name) < index
      ? [duplicate(`spec.drivers[${index}].name`, name)]
      : []),
    ...(nodeID ? [] : [required(`spec.drivers[${index}].nodeID`)]),
  ]);
};

const SPECIAL: Readonly<Partial<Record<ApiResourceName, Strategy>>> = {
  certificatesigningrequests: certificateStrategy,
  configmaps: { ...whole, validateUpdate: validateImmutable },
  csinodes: { ...whole, validateCreate: csiNodeProblems, validateUpdate: csiNodeProblems },
  events: {
    ...whole,
    createOnUpdate: true,
    validateCreate: validateEvent,
    validateUpdate: validateEvent,
  },
  leases: {
    ...whole,
    unconditionalUpdate: false,
    createOnUpdate: true,
    validateCreate: validateLease,
    validateUpdate: validateLease,
  },
  namespaces: {
    ...withStatus,
    prepareCreate: (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { ...object.metadata?.labels, "kubernetes.io/metadata.name": object.metadata?.name ?? "" },
      },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    }),
  },
  // A Node keeps the status it is created with.
  nodes: { ...withStatus, validateCreate: nodeProblems, validateUpdate: nodeChangeProblems },
  persistentvolumeclaims: { ...withStatus, prepareCreate: (object) => ({ ...object, status: { phase: "Pending" } }) },
  persistentvolumes: { ...withStatus, prepareCreate: (object) => ({ ...object, status: { phase: "Pending" } }) },
  podcertificaterequests: { ...withStatus, prepareCreate: withoutFirstStatus },
  pods: podStrategy,
  resourceclaims: { ...withStatus, prepareCreate: withoutFirstStatus },
  secrets: {
    ...whole,
    prepareCreate: withSecretData,
    prepareUpdate: withSecretData,
    validateUpdate: validateImmutable,
  },
  services: { ...withStatus, prepareCreate: (object) => ({ ...object, status: { loadBalancer: {} } }) },
  volumeattachments: { ...withStatus, prepareCreate: withoutFirstStatus },
};

/** Returns the strategy of a resource. */
export const strategyOf = (resource: ApiResourceName): Strategy => SPECIAL[resource] ?? whole;
