/** Formats a volumes view as text: the output of `rxlet volumes`. */
import { durationText, oneLine } from "../telemetry/plainText.ts";
import type { OrphanView, PodVolumesView, VolumesView, VolumeView } from "./volumesView.ts";

/** Returns lines ending in a newline: one block per pod, then the orphaned volumes, then those of the node without a pod. */
export function volumesText({ at, pods, orphans, stages = [] }: VolumesView): string {
  const volumes = pods.flatMap((each) => each.volumes);
  const count = (state: VolumeView["state"]): number => volumes.filter((each) => each.state === state).length;
  const summary = [
    ...(["mounted", "pending", "removing"] as const).map((state) => `${count(state)} ${state}`),
    ...(orphans === undefined ? [] : [`${orphans.length} orphaned`]),
  ];
  return [
    `${summary.join(", ")}, at ${at}`,
    ...pods.flatMap(podLines),
    ...(orphans === undefined || orphans.length === 0 ? [] : ["", "Left over from removed pods"]),
    ...(orphans ?? []).flatMap(orphanLines),
    ...(stages.length === 0 ? [] : ["", "Staged for no pod"]),
    ...stages.flatMap(({ volume, path, reason }) => [oneLine(`  ${volume} at ${path}`), `    ${oneLine(reason)}`]),
    "",
  ].join("\n");
}

function podLines({ pod, volumes }: PodVolumesView): readonly string[] {
  const lines = volumes.length === 0 ? ["  no volumes"] : volumeLines(volumes);
  return ["", `${pod.namespace}/${pod.name}  (UID ${pod.uid})`, ...lines];
}

const orphanLines = ({ path, reason, volumes }: OrphanView): readonly string[] => [
  `  ${oneLine(path)}`,
  `    ${oneLine(reason)}`,
  ...volumeLines(volumes).map((line) => `  ${line}`),
];

function volumeLines(volumes: readonly VolumeView[]): readonly string[] {
  const width = (of: (view: VolumeView) => string): number => Math.max(0, ...volumes.map((view) => of(view).length));
  const [names, states] = [width(({ name }) => name), width(({ state }) => state)];
  const plugins = width(({ plugin = "" }) => plugin);
  return volumes.flatMap((view) => {
    const { name, state, plugin = "", path = "", source } = view;
    const place = source === undefined || path === "" ? (source ?? path) : `${source} at ${path}`;
    const row = `  ${state.padEnd(states)}  ${name.padEnd(names)}  ${plugin.padEnd(plugins)}  ${place}`;
    return [oneLine(row).trimEnd(), ...whyLines(view)];
  });
}

function whyLines({ volume, stage, reason, failures, next }: VolumeView): readonly string[] {
  const tries = failures === undefined ? "" : `failed ${failures === 1 ? "once" : `${failures} times`}`;
  const due = next === undefined ? "" : `next try at ${next.at}, in ${durationText(next.inSeconds)}`;
  const reported = [tries, due].filter((part) => part !== "").join("; ");
  return [
    ...(volume === undefined ? [] : [`      PersistentVolume ${volume}`]),
    ...(stage === undefined ? [] : [`      staged at ${oneLine(stage)}`]),
    ...(reason === undefined ? [] : [`      ${oneLine(reason)}`]),
    ...(reported === "" ? [] : [`      ${reported}`]),
  ];
}
