/** Validates resource requests and limits of containers and pods. */
import type { Container, PodSpec } from "../api.ts";
import {
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
  quantityOf,
} from "../quantity.ts";
import { aggregateAmount, resourceNamesOf } from "./defaultResources.ts";
import {
  duplicate,
  type FieldProblems,
  forbidden,
  invalid,
  invalidEach,
  notFound,
  required,
  unsupported,
} from "./fieldProblem.ts";
import {
  isExtendedResource,
  isHugePages,
  isNativeResource,
  isOvercommitAllowed,
  isPodLevelResource,
  isStandardContainerResource,
} from "./resourceNames.ts";
import { qualifiedName } from "./validateFormats.ts";

type Resources = NonNullable<Container["resources"]>;
type Amounts = Readonly<Record<string, string>>;
type ResizePolicy = NonNullable<Container["resizePolicy"]>[number];

const ZERO = quantityOf(0);
const POD_LEVEL = ["cpu", "memory", "hugepages-<size>"];

const amount = (text: string | undefined): Quantity => parseQuantity(text ?? "0") ?? ZERO;

/** Validates a container's resources. */
export function* validateResources(resources: Resources | undefined, spec: PodSpec, path: string): FieldProblems {
  if (resources === undefined) return;
  const { limits = {}, requests = {} } = resources;
  yield* validateResourceMap(limits, `${path}.limits`);
  yield* validateResourceMap(requests, `${path}.requests`);
  yield* validateRequestsWithinLimits(requests, limits, path);
  yield* validateHugePages([limits, requests], path);
  yield* validateClaims(resources, spec, `${path}.claims`);
}

/** Validates resource names and amounts. */
export function* validateResourceMap(amounts: Amounts, path: string): FieldProblems {
  for (const [name, text] of Object.entries(amounts)) {
    const at = `${path}[${name}]`;
    const complaints = qualifiedName(name);
    yield* invalidEach(at, name, complaints);
    if (complaints.length === 0 && isNativeResource(name) && !isStandardContainerResource(name)) {
      yield invalid(at, name, "must be a standard resource for containers");
    }
    const quantity = amount(text);
    if (quantity.nano < 0n) yield invalid(at, text, "must be greater than or equal to 0");
    if ((isExtendedResource(name) || isHugePages(name)) && quantityMilli(quantity) % 1000n !== 0n) {
      yield invalid(at, text, "must be an integer");
    }
  }
}

function* validateRequestsWithinLimits(requests: Amounts, limits: Amounts, path: string): FieldProblems {
  for (const [name, text] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined) {
      if (!isOvercommitAllowed(name)) {
        yield required(`${path}.limits`, `a limit must be set for ${name}, which cannot be overcommitted`);
      }
      continue;
    }
    const order = compareQuantity(amount(text), amount(limit));
    if (!isOvercommitAllowed(name) && order !== 0) {
      yield invalid(`${path}.requests`, text, `must be equal to ${name} limit of ${formatQuantity(amount(limit))}`);
    } else if (order > 0) {
      yield invalid(
        `${path}.requests`,
        text,
        `must be less than or equal to ${name} limit of ${formatQuantity(amount(limit))}`,
      );
    }
  }
}

function* validateHugePages(parts: readonly Amounts[], path: string): FieldProblems {
  const names = new Set(parts.flatMap((amounts) => Object.keys(amounts)));
  if ([...names].some(isHugePages) && !names.has("cpu") && !names.has("memory")) {
    yield forbidden(path, "HugePages require cpu or memory");
  }
}

function* validateClaims(resources: Resources, spec: PodSpec, path: string): FieldProblems {
  const known = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  const seen = new Set<string>();
  for (const [index, claim] of (resources.claims ?? []).entries()) {
    const name = claim.name ?? "";
    const key = `${name}/${claim.request ?? ""}`;
    if (name === "") yield required(`${path}[${index}]`);
    else if (!known.has(name))
      yield notFound(`${path}[${index}]`, name, "spec.resourceClaims has no claim of this name");
    if (seen.has(key)) yield duplicate(`${path}[${index}]`, name);
    seen.add(key);
  }
}

/** Validates pod-level resources, also against those of the containers. */
export function* validatePodResources(spec: PodSpec, path: string): FieldProblems {
  const resources = spec.resources;
  if (resources === undefined) return;
  const { limits = {}, requests = {} } = resources;
  if (resources.claims !== undefined)
    yield forbidden(`${path}.claims`, "claims cannot be set for Resources at pod-level");
  for (const [part, amounts] of [
    ["limits", limits],
    ["requests", requests],
  ] as const) {
    yield* validateResourceMap(amounts, `${path}.${part}`);
    for (const name of Object.keys(amounts)) {
      if (!isPodLevelResource(name)) yield unsupported(`${path}.${part}[${name}]`, name, POD_LEVEL);
    }
  }
  yield* validateRequestsWithinLimits(requests, limits, path);
  for (const name of resourceNamesOf(spec, "requests").filter(isPodLevelResource)) {
    const wanted = aggregateAmount(spec, "requests", name);
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(wanted)}`;
    const stated = requests[name];
    if (stated !== undefined && compareQuantity(wanted, amount(stated)) > 0) {
      yield invalid(`${path}.requests[${name}]`, stated, detail);
    }
  }
  for (const [index, container] of spec.containers.entries()) {
    for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
      const limit = limits[name];
      if (limit === undefined || compareQuantity(amount(text), amount(limit)) <= 0) continue;
      const field = `spec.containers[${index}].resources.limits[${name}]`;
      yield invalid(field, text, `must be less than or equal to pod limits of ${formatQuantity(amount(limit))}`);
    }
  }
}

/** Validates the resize policy of a container. */
export function* validateResizePolicy(
  policies: readonly ResizePolicy[],
  restartPolicy: string | undefined,
  path: string,
): FieldProblems {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy: policy = "" }] of policies.entries()) {
    const at = `${path}[${index}]`;
    if (seen.has(resourceName)) yield duplicate(at, resourceName);
    seen.add(resourceName);
    if (resourceName !== "cpu" && resourceName !== "memory") {
      yield unsupported(`${at}.resourceName`, resourceName, ["cpu", "memory"]);
    }
    if (policy !== "NotRequired" && policy !== "RestartContainer") {
      yield unsupported(`${at}.restartPolicy`, policy, ["NotRequired", "RestartContainer"]);
    } else if (restartPolicy === "Never" && policy !== "NotRequired") {
      yield invalid(`${at}.restartPolicy`, policy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  }
}
