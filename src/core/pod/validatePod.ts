/**
 * Validates a decoded and defaulted pod: the API server's rules for creating a pod, in its wording, with all violations
 * at once. One file per topic. Rules without meaning for a kubelet (pod affinity, topology spread, Windows) are left to
 * the scheduler and the API server. Upstream: ValidatePodCreate of pkg/apis/core/validation.
 */
import type { PodSpec } from "../api.ts";
import type { DecodedPod } from "./defaults.ts";
import {
  type FieldProblem,
  type FieldProblems,
  forbidden,
  invalid,
  invalidEach,
  required,
  unsupported,
} from "./fieldProblem.ts";
import { validateContainers, validateEphemeralContainers, validateInitContainers } from "./validateContainers.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "./validateFormats.ts";
import { validateMetadata } from "./validateMetadata.ts";
import { validateNetwork } from "./validateNetwork.ts";
import { validateResourceMap, validatePodResources } from "./validateResources.ts";
import { validateScheduling } from "./validateScheduling.ts";
import { validatePodSecurity } from "./validateSecurity.ts";
import { validateVolumes } from "./validateVolumes.ts";

/** Maximum number of violations to report for one pod. */
const MAX_PROBLEMS = 100;
const MAX_INT32 = 2 ** 31 - 1;
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PREEMPTION_POLICIES = ["Never", "PreemptLowerPriority"];

/** Returns the violations of the pod, at most MAX_PROBLEMS; empty when it is valid. */
export function validatePod(pod: DecodedPod & { readonly spec: PodSpec }): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const problem of violations(pod)) {
    problems.push(problem);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return problems;
}

function* violations(pod: DecodedPod & { readonly spec: PodSpec }): FieldProblems {
  const { spec } = pod;
  yield* validateMetadata(pod.metadata ?? {}, "metadata");
  yield* validateVolumes(spec.volumes ?? [], "spec.volumes");
  yield* validateContainers(spec, "spec.containers");
  yield* validateInitContainers(spec, "spec.initContainers");
  yield* validateEphemeralContainers(spec, "spec.ephemeralContainers");
  yield* validatePodResources(spec, "spec.resources");
  yield* validatePolicies(spec);
  yield* validateNames(spec);
  yield* validateTimes(spec);
  yield* validatePodSecurity(spec, "spec");
  yield* validateNetwork(spec, "spec");
  yield* validateScheduling(spec, "spec");
  if (spec.overhead !== undefined) yield* validateResourceMap(spec.overhead, "spec.overhead");
  yield* validateOs(spec);
}

function* validatePolicies(spec: PodSpec): FieldProblems {
  const policy = spec.restartPolicy ?? "";
  if (!RESTART_POLICIES.includes(policy)) yield unsupported("spec.restartPolicy", policy, RESTART_POLICIES);
  const preemption = spec.preemptionPolicy;
  if (preemption !== undefined && !PREEMPTION_POLICIES.includes(preemption)) {
    yield unsupported("spec.preemptionPolicy", preemption, PREEMPTION_POLICIES);
  }
}

/** Validates the formats of names in the spec. */
function* validateNames(spec: PodSpec): FieldProblems {
  const named: readonly (readonly [keyof PodSpec, (text: string) => readonly string[]])[] = [
    ["serviceAccountName", dnsSubdomain],
    ["nodeName", dnsSubdomain],
    ["priorityClassName", dnsSubdomain],
    ["runtimeClassName", dnsSubdomain],
    ["hostname", dnsLabel],
    ["subdomain", dnsLabel],
  ];
  for (const [key, format] of named) {
    const value = spec[key];
    if (typeof value !== "string" || (value === "" && key !== "runtimeClassName")) continue;
    yield* invalidEach(`spec.${key}`, value, format(value));
  }
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    const condition = gate.conditionType ?? "";
    yield* invalidEach(`spec.readinessGates[${index}].conditionType`, condition, qualifiedName(condition));
  }
  if ((spec.schedulingGates ?? []).length > 0 && (spec.nodeName ?? "") !== "") {
    yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

function* validateTimes(spec: PodSpec): FieldProblems {
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    yield invalid("spec.activeDeadlineSeconds", deadline, `must be between 1 and ${MAX_INT32}, inclusive`);
  }
  const grace = spec.terminationGracePeriodSeconds;
  if (grace === undefined) yield required("spec.terminationGracePeriodSeconds");
  else if (grace < 0) {
    // Differs from upstream: rejects a negative grace period, which upstream turns into one second.
    yield invalid("spec.terminationGracePeriodSeconds", grace, "must be greater than or equal to 0");
  }
}

function* validateOs(spec: PodSpec): FieldProblems {
  if (spec.os === undefined) return;
  const name = spec.os.name ?? "";
  if (name === "") yield required("spec.os.name");
  else if (name !== "linux" && name !== "windows") yield unsupported("spec.os.name", name, ["linux", "windows"]);
  if (name !== "linux") return;
  const detail = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions !== undefined)
    yield forbidden("spec.securityContext.windowsOptions", detail);
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if (container.securityContext?.windowsOptions !== undefined) {
        yield forbidden(`spec.${list}[${index}].securityContext.windowsOptions`, detail);
      }
    }
  }
}
