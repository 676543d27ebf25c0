/**
 * Validates regular, init and ephemeral containers. The rules for parts of a container are in one file per topic.
 * Upstream: validateContainers and its siblings (pkg/apis/core/validation).
 */
import type { V1EphemeralContainer } from "@kubernetes/client-node";
import type { Container, PodSpec, Wire } from "../api.ts";
import { isSidecar, podContainers } from "./containers.ts";
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
import { validateEnv } from "./validateEnv.ts";
import { dnsLabel } from "./validateFormats.ts";
import { validateDevices, validateMounts } from "./validateMounts.ts";
import { validateHostPorts, validatePorts } from "./validatePorts.ts";
import { validateLifecycle, validateProbes } from "./validateProbes.ts";
import { validateResizePolicy, validateResources } from "./validateResources.ts";
import { validateRestartPolicy } from "./validateRestartPolicy.ts";
import { validateContainerSecurity } from "./validateSecurity.ts";

type EphemeralContainer = Wire<V1EphemeralContainer>;

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["FallbackToLogsOnError", "File"];
const ONLY_RUNNING = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const;
const NOT_EPHEMERAL = [
  "ports",
  "resources",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
] as const;

/** Validates `spec.containers`. */
export function* validateContainers(spec: PodSpec, path: string): FieldProblems {
  if (spec.containers.length === 0) yield required(path);
  const names = new Set<string>();
  for (const [index, container] of spec.containers.entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, spec, at);
    if (container.name !== undefined && names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    yield* validateLifecycle(container.lifecycle, spec.terminationGracePeriodSeconds, `${at}.lifecycle`);
    yield* validateProbes(container, spec.terminationGracePeriodSeconds, at);
  }
  yield* validateHostPorts(spec.containers, path);
}

/** Validates `spec.initContainers`, including sidecars. */
export function* validateInitContainers(spec: PodSpec, path: string): FieldProblems {
  const names = new Set(spec.containers.map((container) => container.name));
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, spec, at);
    if (container.name !== undefined && names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    yield* validateHostPorts([container], path, index);
    const isRestartable = isSidecar(container);
    if (isRestartable) {
      yield* validateLifecycle(container.lifecycle, spec.terminationGracePeriodSeconds, `${at}.lifecycle`);
      yield* validateProbes(container, spec.terminationGracePeriodSeconds, at);
    } else {
      for (const key of ONLY_RUNNING) {
        if (container[key] === undefined) continue;
        yield forbidden(`${at}.${key}`, "may not be set for init containers without restartPolicy=Always");
      }
    }
  }
}

/**
 * Validates ephemeral containers. They are added later through the API and are invalid in a new pod, but their other
 * problems are reported too.
 */
export function* validateEphemeralContainers(spec: PodSpec, path: string): FieldProblems {
  const containers = spec.ephemeralContainers ?? [];
  if (containers.length === 0) return;
  const others = new Set(podContainers(spec).map((container) => container.name));
  const names = new Set(others);
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, spec, at);
    if (names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    const target = container.targetContainerName ?? "";
    if (target !== "" && !others.has(target))
      yield notFound(`${at}.targetContainerName`, target, "the pod has no container of this name");
    for (const key of NOT_EPHEMERAL) {
      if (container[key] !== undefined) yield forbidden(`${at}.${key}`, "cannot be set for an Ephemeral Container");
    }
  }
  yield forbidden(path, "cannot be set on create");
}

/** Validates the fields that all kinds of containers share. */
function* validateContainer(container: Container | EphemeralContainer, spec: PodSpec, path: string): FieldProblems {
  const name = container.name ?? "";
  const image = container.image ?? "";
  if (name === "") yield required(`${path}.name`);
  else yield* invalidEach(`${path}.name`, name, dnsLabel(name));
  if (image === "") yield required(`${path}.image`);
  else if (image.trim() !== image) {
    yield invalid(`${path}.image`, image, "must not have leading or trailing whitespace");
  }
  const pullPolicy = container.imagePullPolicy ?? "";
  if (!PULL_POLICIES.includes(pullPolicy)) yield unsupported(`${path}.imagePullPolicy`, pullPolicy, PULL_POLICIES);
  const messagePolicy = container.terminationMessagePolicy ?? "";
  if (!MESSAGE_POLICIES.includes(messagePolicy)) {
    yield unsupported(`${path}.terminationMessagePolicy`, messagePolicy, MESSAGE_POLICIES);
  }
  yield* validateRestartPolicy(container, path);
  yield* validatePorts(container.ports ?? [], spec, `${path}.ports`);
  yield* validateEnv(container, spec.volumes ?? [], path);
  yield* validateMounts(container, spec.volumes ?? [], `${path}.volumeMounts`);
  yield* validateDevices(container, spec.volumes ?? [], `${path}.volumeDevices`);
  yield* validateResources(container.resources, spec, `${path}.resources`);
  yield* validateResizePolicy(container.resizePolicy ?? [], spec.restartPolicy, `${path}.resizePolicy`);
  yield* validateContainerSecurity(container.securityContext, spec.hostUsers !== false, `${path}.securityContext`);
}
