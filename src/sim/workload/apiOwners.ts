/**
 * The users and controllers who own the API pods of a workload, all of it through the API server: they create, place,
 * edit and delete them, and make them again under one name. Owns what it made; the server's rules say when it is gone.
 */
import type { Container, PodSpec, Wire } from "../../core/api.ts";
import type { V1Pod } from "@kubernetes/client-node";
import { invariant } from "../../core/invariant.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { podManifest, SIM_NAMESPACE, type SimPodPlan, type SimPodStep, type WantedPod } from "./workload.ts";
import { SIM_ACCOUNT } from "./workloadVolumes.ts";
import { drawTenants, freeRoom, isTenant, type SimTenancy, tenantName } from "./workloadTenants.ts";
import { configNameOf, configObjects } from "./workloadConfig.ts";
import { resizedSpec, resizeText, type SimResizeStep } from "./workloadSizes.ts";

type ApiPod = Wire<V1Pod>;

interface Made {
  readonly plan: SimPodPlan;
  readonly revision: number;
  /** Made again once this one is gone. */
  readonly successor: number | undefined;
}

const LONGEST_TENANCY_MS = 10 * 60_000;
const NO_SPEC: PodSpec = { containers: [] };

const manifestOf = (plan: SimPodPlan, revision: number): ApiPod => podManifest(plan, revision);
const refOf = (name: string) => ({ namespace: SIM_NAMESPACE, name });

/** Lets them loose on a node and its server. */
export function createApiOwners(node: SimNode, server: SimApiServer) {
  const { nodeName } = node.config;
  const made = new Map<string, Made>();
  let notes = 0;
  if (server.object("namespaces", { name: SIM_NAMESPACE }) === undefined) {
    server.put("namespaces", { metadata: { name: SIM_NAMESPACE } });
    server.put("serviceaccounts", { metadata: refOf(SIM_ACCOUNT) });
  }
  const podOf = (name: string): ApiPod | undefined => server.object("pods", refOf(name));
  const create = (plan: SimPodPlan, revision: number): void => {
    node.note(`create pod ${plan.name}`);
    made.set(plan.name, { plan, revision, successor: undefined });
    server.put("pods", manifestOf(plan, revision));
    server.schedule(refOf(plan.name), nodeName);
  };
  const edit = ({ plan }: Made, revision: number): void => {
    node.note(`edit pod ${plan.name}`);
    made.set(plan.name, { plan, revision, successor: undefined });
    const spec = withImages(podOf(plan.name)?.spec ?? NO_SPEC, manifestOf(plan, revision).spec ?? NO_SPEC);
    server.put("pods", { metadata: refOf(plan.name), spec });
  };
  const resize = ({ plan, revision }: Made, step: SimResizeStep): void => {
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
  /** Its object is gone: by force, or because the kubelet has let go of it. */
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
  const config = createConfigOwners(node, server);
  const pick = (prng: Prng): Made | undefined => {
    const names = [...made.keys()].sort();
    return names.length === 0 ? undefined : made.get(prng.pick(names));
  };
  const removeForGood = (known: Made, graceSeconds: number): void => {
    made.set(known.plan.name, { ...known, successor: undefined });
    remove(known.plan.name, graceSeconds);
  };
  const takeRoom = createTenancies(node, server, { made, pick, create, removeForGood });
  return {
    take(plan: SimPodPlan, step: SimPodStep): void {
      const known = made.get(plan.name);
      switch (step.kind) {
        case "add":
        case "edit":
          if (known === undefined) create(plan, step.revision);
          else if (isDeleting(podOf(plan.name))) made.set(plan.name, { ...known, successor: step.revision });
          else edit(known, step.revision);
          break;
        case "resize":
          if (known !== undefined) resize(known, step);
          break;
        case "configure":
        case "unconfigure":
          config[step.kind](plan);
          break;
        case "delete":
          if (known === undefined) break;
          remove(plan.name, step.graceSeconds);
          break;
        case "forceDelete":
          if (known !== undefined) removeForGood(known, 0);
          break;
      }
    },
    replace(prng: Prng): boolean {
      const known = pick(prng);
      if (known === undefined) return false;
      made.set(known.plan.name, { ...known, successor: known.revision });
      remove(known.plan.name, 0);
      return true;
    },
    takeRoom,
    annotate(prng: Prng): boolean {
      const known = pick(prng);
      if (known === undefined) return false;
      notes += 1;
      const annotations = { "demo/writer": String(notes) };
      server.put("pods", { metadata: { ...refOf(known.plan.name), annotations } });
      return true;
    },
    heal: () => config.heal(),
    leave(): void {
      for (const [name, known] of [...made]) {
        made.set(name, { ...known, successor: undefined });
        remove(name, 0);
      }
    },
    wanted: (): readonly WantedPod[] =>
      [...made.values()].flatMap(({ plan }) => {
        const pod = podOf(plan.name);
        invariant(pod !== undefined, `pod ${plan.name} is gone and its owner does not know`);
        return isDeleting(pod) ? [] : [{ plan, name: plan.name, uid: pod.metadata?.uid }];
      }),
  };
}

/** What the owners of tenants use of those of pods. */
interface PodHands {
  readonly made: ReadonlyMap<string, Made>;
  pick(prng: Prng): Made | undefined;
  create(plan: SimPodPlan, revision: number): void;
  removeForGood(known: Made, graceSeconds: number): void;
}

/** Lets those who had the room of others last, and maybe one more pod, leave it to new ones; false when there is none. */
function createTenancies(node: SimNode, server: SimApiServer, { made, pick, create, removeForGood }: PodHands) {
  const { nodeName, allocatable } = node.config;
  let tenants = 0;
  const move = (tenancy: SimTenancy, prng: Prng): void => {
    tenants += 1;
    const plan: SimPodPlan = {
      name: tenantName(tenants),
      kind: prng.pick(["steady", "leaving", "deaf"]),
      source: "api",
      graceSeconds: prng.pick([0, 5, 30]),
      image: "registry.example/app-1:1",
      tenancy,
      steps: [],
    };
    create(plan, 0);
    // Not for ever: they leave no room to anybody else.
    node.scheduler.schedule(
      () => {
        const known = made.get(plan.name);
        if (known !== undefined) removeForGood(known, 0);
      },
      prng.int(5_000, LONGEST_TENANCY_MS),
    );
  };
  return (prng: Prng): boolean => {
    const before = [...made.values()].filter(({ plan }) => isTenant(plan.name) && prng.chance(0.8));
    const other = before.length === 0 || prng.chance(0.5) ? pick(prng) : undefined;
    const leaving = new Set(other === undefined ? before : [...before, other]);
    if (leaving.size === 0) return false;
    for (const known of leaving) removeForGood(known, prng.chance(0.7) ? 0 : prng.int(1, 30));
    const staying = server.objects("pods").filter((pod) => pod.spec?.nodeName === nodeName && !isDeleting(pod));
    const pods = staying.map(({ spec = NO_SPEC, status }) => ({ spec, status }));
    for (const tenancy of drawTenants(prng, freeRoom(allocatable, pods))) move(tenancy, prng);
    return true;
  };
}

/** Those who write what pods are configured from: ConfigMap and Secret at once, numbered over all writings. */
function createConfigOwners(node: SimNode, server: SimApiServer) {
  const away = new Map<string, SimPodPlan>();
  let revisions = 0;
  const nameFor = ({ name, configuring }: SimPodPlan): string =>
    configuring === undefined ? "" : configNameOf(configuring, name);
  const configure = (plan: SimPodPlan): void => {
    revisions += 1;
    const name = nameFor(plan);
    node.note(`write config ${name}, writing ${revisions}`);
    away.delete(name);
    const { configMap, secret } = configObjects(SIM_NAMESPACE, name, revisions);
    server.put("configmaps", configMap);
    server.put("secrets", secret);
  };
  return {
    configure,
    unconfigure(plan: SimPodPlan): void {
      const name = nameFor(plan);
      if (server.object("configmaps", refOf(name)) === undefined) return;
      node.note(`delete config ${name}`);
      away.set(name, plan);
      server.delete("configmaps", refOf(name));
      server.delete("secrets", refOf(name));
    },
    heal: () => [...away.values()].forEach(configure),
  };
}

/** The containers of a spec with the images of another, as `kubectl set image` has them; sizes stay. */
function withImages(
  { containers, initContainers }: PodSpec,
  { containers: given, initContainers: init = [] }: PodSpec,
) {
  const imaged = (each: Container): Container => {
    const image = [...init, ...given].find(({ name }) => name === each.name)?.image;
    return image === undefined ? each : { ...each, image };
  };
  return {
    containers: containers.map(imaged),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(imaged) }),
  };
}

const isDeleting = (pod: ApiPod | undefined): boolean => pod?.metadata?.deletionTimestamp !== undefined;
