/** Field and label selectors in the server's syntax. */
import type { ApiResourceName } from "../api/apiResources.ts";
import type { ApiSelection } from "../api/apiRequests.ts";
import { badRequest } from "./refusals.ts";
import { type ApiObject, fieldAt } from "./storedObject.ts";

/** A parsed selection. */
export interface Selection {
  readonly namespace: string;
  /** No selector is set; a namespace does not count. */
  readonly isUnfiltered: boolean;
  matches(object: ApiObject): boolean;
  /** The value that a field must have; undefined when any value matches. */
  required(field: string): string | undefined;
}

type Test = (object: ApiObject) => boolean;

const EVERYWHERE = ["metadata.name", "metadata.namespace"];
const FIELDS: Readonly<Partial<Record<ApiResourceName, readonly string[]>>> = {
  pods: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  nodes: ["spec.unschedulable"],
  secrets: ["type"],
  namespaces: ["status.phase"],
  services: ["spec.clusterIP", "spec.type"],
  certificatesigningrequests: ["spec.signerName"],
  clustertrustbundles: ["spec.signerName"],
  podcertificaterequests: ["spec.nodeName", "spec.signerName"],
  resourceslices: ["spec.nodeName", "spec.driver"],
  events: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
};

interface FieldTest {
  readonly field: string;
  readonly value: string;
  readonly isEqual: boolean;
}

function parseFields(resource: ApiResourceName, text: string): readonly FieldTest[] {
  const known = [...EVERYWHERE, ...(FIELDS[resource] ?? [])];
  return text
    .split(",")
    .filter((term) => term !== "")
    .map((term) => {
      const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = "", operator = "", value = ""] = match;
      if (!known.includes(field)) throw badRequest(`field label not supported: ${field}`);
      return { field, value, isEqual: operator !== "!=" };
    });
}

/** Returns a field as selectors compare it: absent fields are empty, absent flags are "false". */
function fieldText(object: ApiObject, field: string): string {
  const value = field === "source" ? fieldAt(object, "source.component") : fieldAt(object, field);
  if (value === undefined || value === null) return /^spec\.(unschedulable|hostNetwork)$/.test(field) ? "false" : "";
  return String(value);
}

const labelsOf = (object: ApiObject): Readonly<Record<string, string>> => object.metadata?.labels ?? {};
const SET_TERM = /^([A-Za-z0-9][-\w./]*)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUALITY_TERM = /^([A-Za-z0-9][-\w./]*)\s*(==|=|!=)\s*([-\w.]*)$/;
const EXISTENCE_TERM = /^(!?)\s*([A-Za-z0-9][-\w./]*)$/;

function labelTest(term: string): Test {
  const set = SET_TERM.exec(term);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = new Set(list.split(",").map((value) => value.trim()));
    return (object) => {
      const value = labelsOf(object)[key];
      return operator === "in" ? value !== undefined && values.has(value) : value === undefined || !values.has(value);
    };
  }
  const equality = EQUALITY_TERM.exec(term);
  if (equality !== null) {
    const [, key = "", operator, wanted] = equality;
    return (object) => (labelsOf(object)[key] === wanted) === (operator !== "!=");
  }
  const existence = EXISTENCE_TERM.exec(term);
  if (existence === null) throw badRequest(`unable to parse requirement: ${term}`);
  const [, not, key = ""] = existence;
  return (object) => (labelsOf(object)[key] === undefined) === (not === "!");
}

/** Splits a label selector into terms; commas within parentheses belong to the term. */
function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "(") isInside = true;
    else if (char === ")") isInside = false;
    else if (char === "," && !isInside) {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

const labelTests = (text: string): readonly Test[] =>
  termsOf(text)
    .map((term) => term.trim())
    .filter((term) => term !== "")
    .map(labelTest);

/** Parses a selection. Errors: 400 for a malformed selector or an unsupported field. */
export function parseSelection(resource: ApiResourceName, selection: ApiSelection): Selection {
  const { namespace = "", fieldSelector = "", labelSelector = "" } = selection;
  const fields = parseFields(resource, fieldSelector);
  const labels = labelTests(labelSelector);
  return {
    namespace,
    isUnfiltered: fields.length === 0 && labels.length === 0,
    matches: (object) =>
      (namespace === "" || object.metadata?.namespace === namespace) &&
      fields.every(({ field, value, isEqual }) => (fieldText(object, field) === value) === isEqual) &&
      labels.every((test) => test(object)),
    required: (name) => fields.find(({ field, isEqual }) => field === name && isEqual)?.value,
  };
}
