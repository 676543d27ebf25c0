/**
 * The people and controllers who own the pods of a workload: they add, edit and delete them, as manifests or as
 * objects of the API server. Owns the desired pods of the node at any moment.
 */
import { staticPodName } from "../../core/pod/staticPod.ts";
import { createApiOwners } from "./apiOwners.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { podManifest, type SimPodPlan, type SimPodStep, type WantedPod } from "./workload.ts";

export interface WorkloadOwners {
  /** Truncates or removes a manifest for a while; false if there is none. */
  spoilManifest(how: "cut" | "away", forMs: number, prng: Prng): boolean;
  /** Deletes an API pod by force and creates it again; false if there is none. */
  replacePod(prng: Prng): boolean;
  /**
   * Deletes API pods, most of them by force, and at once binds others that need their resources; false if there is
   * none.
   */
  takeResources(prng: Prng): boolean;
  /** Annotates an API pod as another client does; false if there is none. */
  annotatePod(prng: Prng): boolean;
  /** Restores every manifest as its owner wrote it. */
  heal(): void;
  /** Removes all pods: none is desired any more. */
  leave(): void;
  wanted(): readonly WantedPod[];
}

/** Starts the owners of these pods on a node and the API server it takes pods from. */
export function createWorkloadOwners(
  node: SimNode,
  server: SimApiServer,
  plans: readonly SimPodPlan[],
): WorkloadOwners {
  const files = createManifestOwners(node, node);
  const page = createManifestOwners(node, pageOf(node));
  const api = createApiOwners(node, server);
  const owners = { file: files, http: page, api };
  for (const plan of plans) {
    for (const step of plan.steps) node.at(step.atMs, () => owners[plan.source].take(plan, step));
  }
  let hasLeft = false;
  return {
    spoilManifest: (how, forMs, prng) => !hasLeft && files.spoil(how, forMs, prng),
    replacePod: (prng) => !hasLeft && api.replace(prng),
    takeResources: (prng) => !hasLeft && api.takeResources(prng),
    annotatePod: (prng) => !hasLeft && api.annotate(prng),
    heal() {
      files.heal();
      api.heal();
    },
    leave() {
      hasLeft = true;
      files.leave();
      page.leave();
      api.leave();
    },
    wanted: () => [...files.wanted(), ...page.wanted(), ...api.wanted()],
  };
}

/** Stores manifests, each under its own name. */
type ManifestPlace = Pick<SimNode, "putManifest" | "dropManifest">;

/** Stores all manifests on one page. */
function pageOf(node: SimNode): ManifestPlace {
  const manifests = new Map<string, object>();
  const put = (): void => node.putPage([...manifests.values()]);
  return {
    putManifest(name, manifest) {
      manifests.set(name, typeof manifest === "string" ? (JSON.parse(manifest) as object) : manifest);
      put();
    },
    dropManifest(name) {
      if (manifests.delete(name)) put();
    },
  };
}

function createManifestOwners(node: SimNode, place: ManifestPlace) {
  const contents = new Map<string, { readonly plan: SimPodPlan; readonly text: string }>();
  const spoiled = new Map<string, "cut" | "away">();
  const write = (file: string): void => {
    const { text } = contents.get(file) ?? {};
    const how = spoiled.get(file);
    if (text === undefined || how === "away") place.dropManifest(file);
    else place.putManifest(file, how === "cut" ? text.slice(0, Math.floor(text.length / 2)) : text);
  };
  return {
    take(plan: SimPodPlan, step: SimPodStep): void {
      const file = `${plan.name}.json`;
      switch (step.kind) {
        case "add":
        case "edit":
          contents.set(file, { plan, text: JSON.stringify(podManifest(plan, step.revision)) });
          break;
        case "delete":
        case "forceDelete":
          contents.delete(file);
          break;
        // Static pods are recreated instead, and read no objects of the server.
        case "resize":
        case "configure":
        case "unconfigure":
          return;
      }
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
        place.dropManifest(file);
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
