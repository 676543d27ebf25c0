/** Strategy of pods: defaults of the API server, and the few fields that may change later. */
import type { V1Pod } from "@kubernetes/client-node";
import type { PodSpec, PodStatus, Wire } from "../../core/api.ts";
import { mayRestartAllContainers } from "../../core/pod/restartAllContainers.ts";
import { isSidecar } from "../../core/pod/containers.ts";
import { defaultPod } from "../../core/pod/defaults.ts";
import { type FieldProblem, forbidden, invalid } from "../../core/pod/fieldProblem.ts";
import { podQosClass } from "../../core/pod/qos.ts";
import { restartsAfterExit } from "../../core/pod/restartRules.ts";
import { validatePod } from "../../core/pod/validatePod.ts";
import { sameValue } from "../../core/sameValue.ts";
import { podStatusRules } from "./podStatusRules.ts";
import type { Strategy } from "./strategy.ts";
import type { ApiObject, StoredObject } from "../../core/apiObjects/storedObject.ts";

type PodObject = Wire<V1Pod>;

/** Annotation of a mirror pod. */
export const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

const asPod = (object: ApiObject): PodObject => object as unknown as PodObject;
const specOf = (object: ApiObject): PodSpec => {
  const spec = object["spec"] as PodSpec | undefined;
  return (spec as Partial<PodSpec> | undefined)?.containers === undefined
    ? { ...spec, containers: [] }
    : (spec as PodSpec);
};
const statusOf = (object: ApiObject): PodStatus => object["status"] ?? {};

function prepareCreate(object: ApiObject): ApiObject {
  const isMirror = object.metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined;
  const account = isMirror ? {} : { serviceAccountName: specOf(object).serviceAccountName || "default" };
  const pod = defaultPod(asPod({ ...object, spec: { ...specOf(object), ...account } }));
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1 },
    spec: { priority: 0, ...pod.spec },
    status: { phase: "Pending", qosClass: podQosClass(pod) },
  };
}

/** A status write keeps the spec, the owners and the deletion metadata; any other write keeps the status. */
function prepareUpdate(object: ApiObject, old: StoredObject, subresource: Parameters<Strategy["prepareUpdate"]>[2]) {
  if (subresource === "status") {
    const { ownerReferences } = old.metadata;
    const { ownerReferences: _ignored, ...metadata } = object.metadata ?? {};
    const { qosClass } = statusOf(old);
    return {
      ...old,
      metadata: ownerReferences === undefined ? metadata : { ...metadata, ownerReferences },
      status: { ...(qosClass === undefined ? {} : { qosClass }), ...statusOf(object) },
    };
  }
  const wanted = wantedSpec(specOf(old), specOf(object), subresource);
  const { spec } = defaultPod(asPod({ ...object, spec: wanted }));
  const isChanged = !sameValue(spec, old["spec"]);
  const generation = (old.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  return { ...object, spec, metadata: { ...object.metadata, generation }, status: old["status"] };
}

/** A resize changes only the resources of the pod, its containers and sidecars. */
function resized(old: PodSpec, wanted: PodSpec): PodSpec {
  const resize = (container: PodSpec["containers"][number], changes: PodSpec["containers"]) => {
    const { resources, resizePolicy } = changes.find(({ name }) => name === container.name) ?? container;
    return {
      ...container,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  };
  const { containers, initContainers } = old;
  const { resources } = wanted;
  const init = initContainers?.map((each) => (isSidecar(each) ? resize(each, wanted.initContainers ?? []) : each));
  return {
    ...old,
    containers: containers.map((each) => resize(each, wanted.containers)),
    ...(init === undefined ? {} : { initContainers: init }),
    ...(resources === undefined ? {} : { resources }),
  };
}

/** A request for ephemeral containers only adds containers. */
function withEphemeral(old: PodSpec, { ephemeralContainers = [] }: PodSpec): PodSpec {
  const known = old.ephemeralContainers ?? [];
  const added = ephemeralContainers.filter((each) => !known.some(({ name }) => name === each.name));
  return { ...old, ephemeralContainers: [...known, ...added] };
}

/** Returns the spec with the changes that a request may make. */
function wantedSpec(old: PodSpec, wanted: PodSpec, subresource: Parameters<Strategy["prepareUpdate"]>[2]): PodSpec {
  if (subresource === "resize") return resized(old, wanted);
  return subresource === "ephemeralcontainers" ? withEphemeral(old, wanted) : wanted;
}

/** A resize may change the sizes of a pod, but not its QoS class. */
function resizeProblems(spec: PodSpec, old: PodSpec): readonly FieldProblem[] {
  const qosClass = podQosClass({ spec });
  if (qosClass === podQosClass({ spec: old })) return [];
  return [invalid("spec", qosClass, "Pod QOS Class may not change as a result of resizing")];
}

const CHANGEABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Returns the old spec with the mutable fields of the new one; equal to the new one if nothing else changed. */
function withAllowedChanges(old: PodSpec, wanted: PodSpec): PodSpec {
  const images = (before: PodSpec["containers"], after: PodSpec["containers"]) =>
    before.map((container, index) => ({ ...container, image: after[index]?.image ?? "" }));
  const init = old.initContainers;
  const grace = (old.terminationGracePeriodSeconds ?? 0) < 0 && wanted.terminationGracePeriodSeconds === 1;
  const { activeDeadlineSeconds: _old, ...rest } = old;
  return {
    ...rest,
    containers: images(old.containers, wanted.containers),
    ...(init === undefined ? {} : { initContainers: images(init, wanted.initContainers ?? []) }),
    ...(wanted.activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds: wanted.activeDeadlineSeconds }),
    ...(wanted.tolerations === undefined ? {} : { tolerations: wanted.tolerations }),
    ...(wanted.schedulingGates === undefined ? {} : { schedulingGates: wanted.schedulingGates }),
    ...(grace ? { terminationGracePeriodSeconds: 1 } : {}),
  };
}

function* specProblems(old: PodSpec, wanted: PodSpec): Iterable<FieldProblem> {
  if (old.containers.length !== wanted.containers.length) {
    yield forbidden("spec.containers", "pod updates may not add or remove containers");
    return;
  }
  const deadline = wanted.activeDeadlineSeconds;
  if (old.activeDeadlineSeconds !== undefined && deadline !== old.activeDeadlineSeconds) {
    if (deadline === undefined)
      yield invalid("spec.activeDeadlineSeconds", null, "must not update from a positive integer to nil value");
    else if (deadline > old.activeDeadlineSeconds) {
      yield invalid("spec.activeDeadlineSeconds", deadline, "must be less than or equal to previous value");
    }
  }
  const tolerations = wanted.tolerations ?? [];
  if (!(old.tolerations ?? []).every((each) => tolerations.some((toleration) => sameValue(each, toleration)))) {
    yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
  }
  if (!sameValue(withAllowedChanges(old, wanted), wanted)) yield forbidden("spec", CHANGEABLE);
}

/** A container that terminated for good stays terminated. */
function* statusProblems(spec: PodSpec, old: PodStatus, wanted: PodStatus): Iterable<FieldProblem> {
  if (old.qosClass !== undefined && wanted.qosClass !== old.qosClass) {
    yield invalid("status.qosClass", wanted.qosClass, "field is immutable");
  }
  for (const field of ["phase", "reason", "message", "hostIP", "podIP", "startTime"] as const) {
    const value: unknown = wanted[field] ?? "";
    if (typeof value !== "string") yield invalid(`status.${field}`, value, "must be a string");
  }
  yield* podStatusRules(wanted);
  if (mayRestartAllContainers(spec)) return;
  for (const [field, containers] of [
    ["containerStatuses", spec.containers],
    ["initContainerStatuses", spec.initContainers ?? []],
  ] as const) {
    for (const [index, { name, state }] of (old[field] ?? []).entries()) {
      const next = wanted[field]?.find((each) => each.name === name);
      if (state?.terminated === undefined || next === undefined || next.state?.terminated !== undefined) continue;
      const container = containers.find((each) => each.name === name);
      if (container !== undefined && restartsAfterExit(container, spec, state.terminated.exitCode)) continue;
      yield forbidden(`status.${field}[${index}].state`, "may not be transitioned to non-terminated state");
    }
  }
}

/** The strategy of pods. */
export const podStrategy: Strategy = {
  unconditionalUpdate: true,
  createOnUpdate: false,
  subresources: ["status", "resize", "ephemeralcontainers"],
  prepareCreate,
  prepareUpdate,
  validateCreate: (object) =>
    validatePod({ ...asPod(object), spec: specOf(object) }).filter(({ severity }) => severity === "error"),
  validateUpdate(object, old, subresource) {
    if (subresource === "status") return [...statusProblems(specOf(old), statusOf(old), statusOf(object))];
    if (subresource === "ephemeralcontainers") return [];
    return subresource === "resize"
      ? resizeProblems(specOf(object), specOf(old))
      : [...specProblems(specOf(old), specOf(object))];
  },
};
