/** Causes the accidents of a simulated node and adds pods to it. Stateless. */
import type { Pod } from "../core/api.ts";
import type { SimHost } from "./host/simHost.ts";
import type { SimApiPods } from "./workload/simApiPods.ts";
import type { SimCgroups } from "./host/simCgroups.ts";
import type { SimKubelet } from "./simKubelet.ts";
import type { SimManifestPage } from "./podSources/simManifestPage.ts";
import type { SimManifest, SimManifests } from "./podSources/simManifests.ts";
import type { UntimedObservation } from "./simObservation.ts";
import type { SimContainer, SimEnd } from "./runtime/simRecords.ts";
import type { SimRuntime } from "./runtime/simRuntime.ts";

/** Dependencies of the actions. */
export interface SimNodeActionsWorld {
  readonly life: SimKubelet;
  readonly runtime: SimRuntime;
  readonly host: SimHost;
  readonly cgroups: SimCgroups;
  readonly manifests: SimManifests;
  readonly page: SimManifestPage;
  readonly apiPods: SimApiPods;
  see(observation: UntimedObservation): void;
}

/** The actions on a node; each is written to its trace. */
export interface SimNodeActions {
  putManifest(name: string, manifest: SimManifest): void;
  dropManifest(name: string): void;
  /** Replaces the content of `staticPodURL`. */
  putPage(manifests: readonly object[]): void;
  putPod(pod: Pod): void;
  dropPod(uid: string): void;
  /** Ends the running container `namespace/pod/name`, by default as KILL does. Returns false if none runs. */
  kill(container: string, end?: SimEnd): boolean;
  /** Ends the sandbox of `namespace/pod`. Returns false if there is none. */
  killSandbox(pod: string): boolean;
  crashKubelet(): void;
  restartKubelet(): void;
  /** Ends the runtime, and with `die` all its containers; returns false if it is already down. */
  crashRuntime(containers: "stay" | "die"): boolean;
  restartRuntime(): void;
  /**
   * Turns the machine off, with all processes and cgroups; disk and images stay. Kubelet and runtime must be
   * restarted.
   */
  powerOff(): void;
}

/** Creates the actions of a node. */
export function createSimNodeActions({
  life,
  runtime,
  host,
  cgroups,
  manifests,
  page,
  apiPods,
  see,
}: SimNodeActionsWorld): SimNodeActions {
  const note = (text: string) => see({ kind: "action", text });
  return {
    putManifest(name, manifest) {
      note(`put manifest ${name}`);
      manifests.put(name, manifest);
    },
    dropManifest(name) {
      note(`drop manifest ${name}`);
      manifests.drop(name);
    },
    putPage(pods) {
      note(`put page of ${pods.length} pods`);
      page.put(JSON.stringify({ apiVersion: "v1", kind: "PodList", items: pods }));
    },
    putPod(pod) {
      note(`put pod ${pod.metadata.namespace}/${pod.metadata.name}`);
      apiPods.put(pod);
    },
    dropPod(uid) {
      note(`drop pod ${uid}`);
      apiPods.drop(uid);
    },
    kill(container, end = { afterMs: 0, code: 137 }) {
      note(`kill ${container}`);
      const victim = runningOf(runtime).find((each) => nameOf(runtime)(each).split("#")[0] === container);
      if (victim !== undefined) runtime.endContainer(victim.id, end);
      return victim !== undefined;
    },
    killSandbox(pod) {
      note(`kill sandbox of ${pod}`);
      const isIt = ({ ready, config: { metadata } }: ReturnType<SimRuntime["sandboxes"]>[number]) =>
        ready && `${metadata?.namespace}/${metadata?.name}` === pod;
      const victim = runtime.sandboxes().find(isIt);
      if (victim !== undefined) runtime.killSandbox(victim.id);
      return victim !== undefined;
    },
    crashKubelet: () => life.crash(),
    restartKubelet: () => life.start(),
    crashRuntime(containers) {
      if (runtime.isDown) return false;
      note(`runtime ended, containers ${containers}`);
      runtime.crash(containers);
      return true;
    },
    restartRuntime() {
      note("runtime started");
      runtime.restart();
    },
    powerOff() {
      note("machine went down");
      life.crash();
      runtime.crash("die");
      cgroups.clear();
      host.reboot();
      see({ kind: "boot" });
    },
  };
}

/** Returns the running containers. */
export const runningOf = (runtime: SimRuntime): readonly SimContainer[] =>
  runtime.containers().filter(({ phase }) => phase.kind === "running");

/** Returns the names of containers as `namespace/pod/name#attempt`. */
export const nameOf = (runtime: SimRuntime): ((container: SimContainer) => string) => {
  const pods = new Map(runtime.sandboxes().map(({ id, config: { metadata } }) => [id, metadata]));
  return ({ sandboxId, config: { metadata } }) => {
    const pod = pods.get(sandboxId);
    return `${pod?.namespace}/${pod?.name}/${metadata?.name}#${metadata?.attempt}`;
  };
};
