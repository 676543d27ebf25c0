/** Read access to the volumes for the servers: the view of the node, or of one pod, as of now. */
import { podDir } from "../../core/paths.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { NO_VOLUMES, type PodVolumes } from "../../core/volume/podVolumes.ts";
import { type ShownOrphan, type VolumesView, volumesView } from "../../core/volume/volumesView.ts";
import type { Clock } from "../../ports/clock.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import type { NodeView } from "../../state/nodeState.ts";

type State = Pick<NodeView, "registry" | "volumes" | "orphans" | "leftStages" | "listing">;

/** The queries about volumes. */
export function volumeQueries(
  clock: Clock,
  { directories }: Pick<KubeletConfig, "directories">,
  state: State,
): Pick<KubeletQueries, "volumes" | "podVolumes"> {
  const now = () => ({ wall: clock.wallTime(), mono: clock.monotonicMs() });
  const of = (uid: PodUid): PodVolumes => state.volumes.get(uid) ?? NO_VOLUMES;
  const known = () =>
    [...state.registry.value.records.values()].map(({ identity }) => ({ ...identity, volumes: of(identity.uid) }));
  const orphan = (uid: PodUid): ShownOrphan => ({
    uid,
    path: podDir(directories, uid),
    reason: state.orphans.value.get(uid) ?? whyNotYet(uid, state),
    volumes: of(uid),
  });
  return {
    volumes(): VolumesView {
      const { records } = state.registry.value;
      const left = new Set([...state.orphans.value.keys(), ...state.volumes.keys()].filter((uid) => !records.has(uid)));
      const pods = known().filter(({ volumes: { wishes, actual } }) => wishes.size > 0 || actual.size > 0);
      return volumesView(now(), pods, [...left].map(orphan), state.leftStages.value);
    },
    podVolumes(namespace, name) {
      const found = known().filter((each) => each.namespace === namespace && each.name === name);
      return found.length === 0 ? undefined : volumesView(now(), found, undefined);
    },
  };
}

/** Returns why the remains of a pod without a source were not removed yet. */
const whyNotYet = (uid: PodUid, { registry, listing }: State): string =>
  listing.value?.pods.has(uid) === true
    ? "the runtime still has something of the pod"
    : registry.value.isSettled
      ? "the next sweep removes it"
      : "not every source of pods has reported, so the pod may still be wanted";
