/** Pods that a script adds to a node, as manifests or API pods. Owns their record and the UIDs of API pods. */
import type { Pod } from "../../core/api.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import type { SimNode } from "../simNode.ts";
import type { SimObservation } from "../simObservation.ts";
import type { ActionContext } from "./scenarioActions.ts";
import {
  type ApiPod,
  apiObject,
  qualifiedNameOf,
  manifestDocument,
  manifestFileOf,
  type PodManifest,
  type ScenarioPod,
} from "./scenarioPods.ts";

const isApiPod = (pod: ScenarioPod): pod is ApiPod => "source" in pod;

/** Delay between the end of an API pod and the removal of its object. */
const REAP_MS = 100;

/** Creates an empty record. */
export function createStagePods(
  node: SimNode,
  names: ActionContext["names"],
  { lose, later }: Pick<ActionContext, "lose" | "later">,
) {
  const { clock } = node;
  const files = new Map<string, PodManifest>();
  const objects = new Map<string, Pod>();
  let uids = 0;
  const putApiPod = (manifest: PodManifest): void => {
    const name = names.pod(qualifiedNameOf(manifest));
    const known = objects.get(name);
    const uid = known?.metadata.deletionTimestamp === undefined ? known?.metadata.uid : undefined;
    const object = apiObject(manifest, uid ?? `${manifest.metadata.name}-uid-${(uids += 1)}`);
    objects.set(name, object);
    node.putPod(object);
  };
  const put = (pod: ScenarioPod): void => {
    if (isApiPod(pod)) return putApiPod(pod.manifest);
    files.set(names.pod(qualifiedNameOf(pod)), pod);
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
  return {
    put,
    remove,
    forceDelete,
    look(observation: SimObservation): void {
      if (observation.kind !== "status" || observation.after === undefined) return;
      const { podUid, after } = observation;
      const isLeaving = [...objects.values()].some(
        ({ metadata }) => metadata.uid === podUid && metadata.deletionTimestamp !== undefined,
      );
      const statuses = podContainerStatuses(after);
      if (isLeaving && statuses.every(({ state }) => state?.running === undefined)) later(REAP_MS, () => reap(podUid));
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
