/**
 * The API pods that the owners of a workload have made. Creates, edits, resizes and deletes them through the API server,
 * and makes a deleted pod again under its name once it is gone. Owns the record of them; the server's rules decide when
 * an object is gone.
 */
import type { Container, PodSpec, Wire } from "../../core/api.ts";
import type { V1Pod } from "@kubernetes/client-node";
import { findContainer } from "../../core/pod/containers.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { podManifest, SIM_NAMESPACE, type SimPodPlan } from "./workload.ts";
import { neededResources } from "./workloadDevices.ts";
import { resizedSpec, resizeText, type SimResizeStep } from "./workloadSizes.ts";

type ApiPod = Wire<V1Pod>;

/** A pod that an owner has made. */
export interface MadePod {
  readonly plan: SimPodPlan;
  readonly revision: number;
  /** Revision of the pod that replaces it under the same name once it is gone. */
  readonly successor: number | undefined;
}

const NO_SPEC: PodSpec = { containers: [] };

/** Returns the reference of an object of the workload. */
export const refOf = (name: string) => ({ namespace: SIM_NAMESPACE, name });

export const isDeleting = (pod: ApiPod | undefined): boolean => pod?.metadata?.deletionTimestamp !== undefined;

const manifestOf = (plan: SimPodPlan, revision: number, incarnation = 0): ApiPod =>
  podManifest(plan, revision, incarnation);

/** The pods and the operations on them. */
export type OwnedApiPods = ReturnType<typeof createOwnedApiPods>;

/** Creates the record, which is empty, of pods on a node. */
export function createOwnedApiPods(node: SimNode, server: SimApiServer) {
  const made = new Map<string, MadePod>();
  /** Pods that were ever created, by name. */
  const created = new Map<string, number>();
  const podOf = (name: string): ApiPod | undefined => server.object("pods", refOf(name));
  const bind = createBinder(node, server);
  const create = (plan: SimPodPlan, revision: number): void => {
    node.note(`create pod ${plan.name}`);
    made.set(plan.name, { plan, revision, successor: undefined });
    const incarnation = created.get(plan.name) ?? 0;
    created.set(plan.name, incarnation + 1);
    server.put("pods", manifestOf(plan, revision, incarnation));
    bind(plan);
  };
  const edit = ({ plan }: MadePod, revision: number): void => {
    node.note(`edit pod ${plan.name}`);
    made.set(plan.name, { plan, revision, successor: undefined });
    const spec = withImages(podOf(plan.name)?.spec ?? NO_SPEC, manifestOf(plan, revision).spec ?? NO_SPEC);
    server.put("pods", { metadata: refOf(plan.name), spec });
  };
  const resize = ({ plan, revision }: MadePod, step: SimResizeStep): void => {
    const pod = podOf(plan.name);
    if (pod?.spec === undefined || plan.sizing === undefined || isDeleting(pod)) return;
    node.note(`resize pod ${plan.name}: ${resizeText(step)}`);
    const first = manifestOf(plan, revision).spec ?? NO_SPEC;
    server.resize(refOf(plan.name), resizedSpec(pod.spec, first, step, plan.sizing));
  };
  const remove = (name: string, graceSeconds: number): void => {
    node.note(`delete pod ${name}, grace ${graceSeconds} s`);
    server.delete("pods", refOf(name), { gracePeriodSeconds: graceSeconds });
  };
  /** The object is gone: it was deleted by force, or the kubelet has finished with it. */
  const gone = (name: string): void => {
    const { plan, successor } = made.get(name) ?? {};
    if (plan === undefined) return;
    made.delete(name);
    if (successor !== undefined) node.scheduler.schedule(() => create(plan, successor));
  };
  server.changes$.subscribe({
    next: ({ resource, type, object: { metadata } }) => {
      if (resource === "pods" && type === "DELETED" && metadata.namespace === SIM_NAMESPACE) gone(metadata.name);
    },
  });
  return {
    made,
    podOf,
    create,
    edit,
    resize,
    remove,
    /** Returns one of the pods; undefined if there are none. */
    pick(prng: Prng): MadePod | undefined {
      const names = [...made.keys()].sort();
      return names.length === 0 ? undefined : made.get(prng.pick(names));
    },
    /** Deletes a pod without a successor. */
    removeForGood(known: MadePod, graceSeconds: number): void {
      made.set(known.plan.name, { ...known, successor: undefined });
      remove(known.plan.name, graceSeconds);
    },
  };
}

/** Returns the function that binds a pod once the Node has the resources that the pod asks for, as a scheduler does. */
function createBinder({ config: { nodeName }, scheduler }: SimNode, server: SimApiServer) {
  const waiting = new Map<string, readonly string[]>();
  const hasAll = (resources: readonly string[]): boolean => {
    const { allocatable = {} } = server.object("nodes", { name: nodeName })?.status ?? {};
    return resources.every((resource) => Number(allocatable[resource] ?? 0) > 0);
  };
  const bindReady = (): void => {
    for (const [name, resources] of [...waiting]) {
      const pod = server.object("pods", refOf(name));
      if (pod !== undefined && !isDeleting(pod) && !hasAll(resources)) continue;
      waiting.delete(name);
      if (pod !== undefined && !isDeleting(pod) && (pod.spec?.nodeName ?? "") === "") {
        server.schedule(refOf(name), nodeName);
      }
    }
  };
  server.changes$.subscribe({
    next: ({ resource }) => {
      if (resource === "nodes" && waiting.size > 0) scheduler.schedule(bindReady);
    },
  });
  return ({ name, deviceUse }: SimPodPlan): void => {
    if (deviceUse === undefined) server.schedule(refOf(name), nodeName);
    else {
      waiting.set(name, neededResources(deviceUse));
      bindReady();
    }
  };
}

/** The containers of a spec with the images of another, as `kubectl set image` has them; sizes stay. */
function withImages({ containers, initContainers }: PodSpec, from: PodSpec) {
  const imaged = (each: Container): Container => {
    const image = findContainer(from, each.name)?.image;
    return image === undefined ? each : { ...each, image };
  };
  return {
    containers: containers.map(imaged),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(imaged) }),
  };
}
