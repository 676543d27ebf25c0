/** A node with a script: takes each step at its time, and tells of those that were for nothing. Owns the node's pods. */
import type { Pod } from "../../core/api.ts";
import { formatInstant } from "../../core/telemetry/civilTime.ts";
import { unreachable } from "../../core/invariant.ts";
import type { SimNode } from "../simNode.ts";
import type { SimObservation } from "../simObservation.ts";
import {
  type ApiPod,
  apiObject,
  fullNameOf,
  manifestDocument,
  manifestFileOf,
  type PodManifest,
  type ScenarioPod,
} from "./scenarioPods.ts";
import { type Hands, takeAction } from "./scenarioActions.ts";
import type { ScenarioStep } from "./script.ts";

/** A step that could not be taken. */
export interface LostStep {
  readonly atMs: number;
  readonly text: string;
}

export interface Stage {
  /** Brings a pod to the node, or the changed one. */
  put(pod: ScenarioPod): void;
  /** Takes the steps, each at its time, until `endMs`. */
  play(steps: readonly ScenarioStep[], endMs: number): void;
  /** An API pod that is to go goes once nothing of it runs. */
  look(observation: SimObservation): void;
  readonly lost: readonly LostStep[];
}

const isApiPod = (pod: ScenarioPod): pod is ApiPod => "source" in pod;

/** From the end of an API pod to its object being gone. */
const REAP_MS = 100;

/** Makes a stage of a node. */
export function createStage(
  node: SimNode,
  { names, troubles, servers }: Pick<Hands, "names" | "troubles" | "servers">,
): Stage {
  const { clock } = node;
  const files = new Map<string, PodManifest>();
  const objects = new Map<string, Pod>();
  const lost: LostStep[] = [];
  let uids = 0;

  const lose = (text: string): void => void lost.push({ atMs: clock.monotonicMs(), text });
  const later = (ms: number | undefined, action: () => void): void => {
    if (ms !== undefined) node.at(clock.monotonicMs() + ms, action);
  };
  const putApiPod = (manifest: PodManifest): void => {
    const name = names.pod(fullNameOf(manifest));
    const known = objects.get(name);
    const uid = known?.metadata.deletionTimestamp === undefined ? known?.metadata.uid : undefined;
    const object = apiObject(manifest, uid ?? `${manifest.metadata.name}-uid-${(uids += 1)}`);
    objects.set(name, object);
    node.putPod(object);
  };
  const put = (pod: ScenarioPod): void => {
    if (isApiPod(pod)) return putApiPod(pod.manifest);
    files.set(names.pod(fullNameOf(pod)), pod);
    node.putManifest(manifestFileOf(pod), manifestDocument(pod));
  };
  const forceDelete = (pod: string): void => {
    const object = objects.get(pod);
    if (object === undefined) return lose(`delete ${pod} by force: there is no API pod of that name`);
    objects.delete(pod);
    node.dropPod(object.metadata.uid);
  };
  const remove = (pod: string, graceSeconds: number | undefined): void => {
    const [manifest, object] = [files.get(pod), objects.get(pod)];
    if (manifest !== undefined) {
      files.delete(pod);
      node.dropManifest(manifestFileOf(manifest));
    } else if (object === undefined) lose(`delete ${pod}: there is no pod of that name`);
    else {
      const deleted = marked(object, clock.wallTime(), graceSeconds);
      objects.set(pod, deleted);
      node.putPod(deleted);
    }
  };
  const reap = (podUid: string): void => {
    const [name] = [...objects].find(([, { metadata }]) => metadata.uid === podUid) ?? [];
    if (name !== undefined && !runs(node, podUid)) forceDelete(name);
  };
  const hands: Hands = { node, names, troubles, servers, put, remove, forceDelete, lose, later };
  return {
    put,
    lost,
    look(observation) {
      if (observation.kind !== "status" || observation.after === undefined) return;
      const { podUid, after } = observation;
      const isLeaving = [...objects.values()].some(
        ({ metadata }) => metadata.uid === podUid && metadata.deletionTimestamp !== undefined,
      );
      const statuses = [...(after.initContainerStatuses ?? []), ...(after.containerStatuses ?? [])];
      if (isLeaving && statuses.every(({ state }) => state?.running === undefined)) later(REAP_MS, () => reap(podUid));
    },
    play(steps, endMs) {
      for (const { when, action } of steps) {
        const take = (): void => takeAction(action, hands);
        switch (when.kind) {
          case "at":
            node.at(when.atMs, take);
            break;
          case "every":
            for (let atMs = when.fromMs; atMs <= Math.min(when.toMs ?? endMs, endMs); atMs += when.periodMs) {
              node.at(atMs, take);
            }
            break;
          case "during": {
            const pod = when.pod === undefined ? undefined : names.pod(when.pod);
            // Not within the call itself: the kubelet that makes it may be what ends.
            troubles.watchCall({ ...when, pod, then: () => later(0, take) });
            break;
          }
          default:
            unreachable(when);
        }
      }
    },
  };
}

const marked = (pod: Pod, now: Parameters<typeof formatInstant>[0], graceSeconds: number | undefined): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    deletionTimestamp: pod.metadata.deletionTimestamp ?? formatInstant(now),
    deletionGracePeriodSeconds: graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30,
  },
});

function runs({ runtime }: SimNode, podUid: string): boolean {
  const own = new Set(
    runtime.sandboxes().flatMap(({ id, config: { metadata } }) => (metadata?.uid === podUid ? [id] : [])),
  );
  return runtime.containers().some(({ sandboxId, phase }) => own.has(sandboxId) && phase.kind === "running");
}
