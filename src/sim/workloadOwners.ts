/**
 * The people and controllers who own the pods of a workload: they add, edit and delete them, as manifests or as objects
 * of an API server that keeps what the kubelet says of them. Owns what is wanted of the node at any moment.
 */
import type { Pod } from "../core/api.ts";
import { invariant } from "../core/invariant.ts";
import { staticPodName } from "../core/pod/staticPod.ts";
import { formatInstant } from "../core/telemetry/civilTime.ts";
import type { Prng } from "./prng.ts";
import type { SimNode } from "./simNode.ts";
import type { SimObservation } from "./simObservation.ts";
import { apiPod, podManifest, SIM_NAMESPACE, type SimPodPlan, type SimPodStep } from "./workload.ts";

/** A pod that has to be there. */
export interface WantedPod {
  readonly plan: SimPodPlan;
  /** As the kubelet calls it. */
  readonly name: string;
  /** Of an API pod. */
  readonly uid: string | undefined;
}

export interface WorkloadOwners {
  /** What a status says reaches the API server a moment later. */
  look(observation: SimObservation): void;
  /** Cuts a manifest short, or takes it away, for a while; false when there is none. */
  spoilManifest(how: "cut" | "away", forMs: number, prng: Prng): boolean;
  /** Deletes an API pod by force and makes it again; false when there is none. */
  replacePod(prng: Prng): boolean;
  /** Every manifest is as its owner wants it. */
  heal(): void;
  /** Nobody wants anything any more. */
  leave(): void;
  wanted(): readonly WantedPod[];
}

/** From a status to the API server knowing it. */
const REPORT_MS = 100;
/** An API pod that is to go is looked at this often. */
const REAP_MS = 5_000;

/** Lets the owners of these pods loose on a node. */
export function createWorkloadOwners(node: SimNode, plans: readonly SimPodPlan[]): WorkloadOwners {
  const files = createManifestOwners(node);
  const api = createApiOwners(node);
  const owners = { file: files, api };
  for (const plan of plans) {
    for (const step of plan.steps) node.at(step.atMs, () => owners[plan.source].take(plan, step));
  }
  let hasLeft = false;
  return {
    look: (observation) => api.look(observation),
    spoilManifest: (how, forMs, prng) => !hasLeft && files.spoil(how, forMs, prng),
    replacePod: (prng) => !hasLeft && api.replace(prng),
    heal: () => files.heal(),
    leave() {
      hasLeft = true;
      files.leave();
      api.leave();
    },
    wanted: () => [...files.wanted(), ...api.wanted()],
  };
}

function createManifestOwners(node: SimNode) {
  const contents = new Map<string, { readonly plan: SimPodPlan; readonly text: string }>();
  const spoiled = new Map<string, "cut" | "away">();
  const write = (file: string): void => {
    const { text } = contents.get(file) ?? {};
    const how = spoiled.get(file);
    if (text === undefined || how === "away") node.dropManifest(file);
    else node.putManifest(file, how === "cut" ? text.slice(0, Math.floor(text.length / 2)) : text);
  };
  return {
    take(plan: SimPodPlan, step: SimPodStep): void {
      const file = `${plan.name}.json`;
      if (step.kind === "delete" || step.kind === "forceDelete") contents.delete(file);
      else contents.set(file, { plan, text: JSON.stringify(podManifest(plan, step.revision)) });
      write(file);
    },
    spoil(how: "cut" | "away", forMs: number, prng: Prng): boolean {
      const candidates = [...contents.keys()].filter((name) => !spoiled.has(name)).sort();
      if (candidates.length === 0) return false;
      const file = prng.pick(candidates);
      spoiled.set(file, how);
      write(file);
      node.at(node.clock.monotonicMs() + forMs, () => {
        if (spoiled.delete(file)) write(file);
      });
      return true;
    },
    heal(): void {
      for (const file of [...spoiled.keys()]) {
        spoiled.delete(file);
        write(file);
      }
    },
    leave(): void {
      for (const file of [...contents.keys()]) {
        contents.delete(file);
        node.dropManifest(file);
      }
    },
    wanted: (): readonly WantedPod[] =>
      [...contents.values()].map(({ plan }) => ({
        plan,
        name: staticPodName(plan.name, node.config.nodeName),
        uid: undefined,
      })),
  };
}

interface ApiObject {
  readonly plan: SimPodPlan;
  readonly revision: number;
  readonly pod: Pod;
  /** Made again once this one is gone. */
  readonly successor: number | undefined;
}

function createApiOwners(node: SimNode) {
  const { clock, scheduler } = node;
  const objects = new Map<string, ApiObject>();
  const incarnations = new Map<string, number>();
  const isDeleting = ({ pod }: ApiObject): boolean => pod.metadata.deletionTimestamp !== undefined;
  const store = (object: ApiObject): void => {
    objects.set(object.plan.name, object);
    node.putPod(object.pod);
  };
  const create = (plan: SimPodPlan, revision: number): void => {
    const incarnation = (incarnations.get(plan.name) ?? 0) + 1;
    incarnations.set(plan.name, incarnation);
    const pod = apiPod(plan, revision, `${plan.name}-uid-${incarnation}`);
    store({ plan, revision, pod, successor: undefined });
  };
  const forget = ({ plan, pod, successor }: ApiObject): void => {
    objects.delete(plan.name);
    node.dropPod(pod.metadata.uid);
    if (successor !== undefined) create(plan, successor);
  };
  /** Nothing of it runs, and the kubelet says so. */
  const hasStopped = ({ pod }: ApiObject): boolean => {
    const { uid } = pod.metadata;
    const parts = node.runtime.sandboxes().filter(({ config }) => config.metadata?.uid === uid);
    const ids = new Set(parts.map(({ id }) => id));
    const runs = node.runtime
      .containers()
      .some(({ sandboxId, phase }) => ids.has(sandboxId) && phase.kind === "running");
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    const isSaidToRun = [...initContainerStatuses, ...containerStatuses].some(
      ({ state }) => state?.running !== undefined,
    );
    return node.kubelet !== undefined && !runs && !isSaidToRun;
  };
  const reap = (uid: string): void => {
    const object = [...objects.values()].find(({ pod }) => pod.metadata.uid === uid);
    if (object === undefined) return;
    if (hasStopped(object)) forget(object);
    else scheduler.schedule(() => reap(uid), REAP_MS);
  };
  const remove = (object: ApiObject, graceSeconds: number): void => {
    const now = formatInstant(clock.wallTime());
    const { metadata } = object.pod;
    const marked = { ...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: graceSeconds };
    store({ ...object, pod: { ...object.pod, metadata: marked } });
    scheduler.schedule(() => reap(metadata.uid), REAP_MS);
  };
  const edit = (object: ApiObject, revision: number): void => {
    const { metadata, status } = object.pod;
    const { spec } = apiPod(object.plan, revision, metadata.uid);
    store({ ...object, revision, pod: { ...object.pod, spec, ...(status === undefined ? {} : { status }) } });
  };
  return {
    take(plan: SimPodPlan, step: SimPodStep): void {
      const object = objects.get(plan.name);
      switch (step.kind) {
        case "add":
        case "edit":
          if (object === undefined) create(plan, step.revision);
          else if (isDeleting(object)) objects.set(plan.name, { ...object, successor: step.revision });
          else edit(object, step.revision);
          break;
        case "delete":
          if (object !== undefined) remove(object, step.graceSeconds);
          break;
        case "forceDelete":
          if (object !== undefined) forget({ ...object, successor: undefined });
          break;
      }
    },
    look(observation: SimObservation): void {
      if (observation.kind !== "status" || observation.after === undefined) return;
      const { podUid, after } = observation;
      scheduler.schedule(() => {
        const object = [...objects.values()].find(({ pod }) => pod.metadata.uid === podUid);
        if (object !== undefined) store({ ...object, pod: { ...object.pod, status: after } });
      }, REPORT_MS);
    },
    replace(prng: Prng): boolean {
      const candidates = [...objects.keys()].sort();
      if (candidates.length === 0) return false;
      const object = objects.get(prng.pick(candidates));
      invariant(object !== undefined, "a pod that was just listed is gone");
      forget({ ...object, successor: object.revision });
      return true;
    },
    leave(): void {
      for (const object of [...objects.values()]) forget({ ...object, successor: undefined });
    },
    wanted: (): readonly WantedPod[] =>
      [...objects.values()]
        .filter((object) => !isDeleting(object))
        .map(({ plan, pod }) => ({ plan, name: pod.metadata.name, uid: pod.metadata.uid })),
  };
}

/** Full name of a wanted pod, as traces show it. */
export const wantedName = ({ name }: Pick<WantedPod, "name">): string => `${SIM_NAMESPACE}/${name}`;
