/**
 * Devices of plugins: no device belongs to two running containers, a container has as many as it asks for and the same ones
 * after each restart, and a plugin is asked only for devices that it has listed and that no running container has. Models the
 * rule without the code of the kubelet. Bound: containers in the runtime and all pods ever desired.
 */
import type { Container, Pod } from "../../core/api.ts";
import type { SimChange } from "../runtime/simRecords.ts";
import type { SimChecker } from "../simChecker.ts";
import { containerNameOf } from "./liveContainers.ts";

/** Numbers of devices by resource. */
type Counts = ReadonlyMap<string, number>;

const resourceOf = (device: string): string => device.slice(0, device.indexOf("="));

export function ownDevices(): SimChecker {
  /** Ids that each plugin has ever listed, by resource. */
  const listed = new Map<string, Set<string>>();
  const demands = new Map<string, Counts>();
  const created = new Map<string, readonly string[]>();
  const running = new Map<string, { readonly name: string; readonly devices: readonly string[] }>();
  /** Devices at the first start of each container, by pod and name. */
  const homes = new Map<string, string>();
  const ofPlugins = (devices: readonly string[] = []): readonly string[] =>
    devices.filter((device) => listed.has(resourceOf(device))).sort();
  const ownerOf = (devices: readonly string[], exceptId = "") =>
    [...running].find(([id, of]) => id !== exceptId && of.devices.some((device) => devices.includes(device)))?.[1];
  const started = ({ id, podUid, name }: SimChange): string | undefined => {
    const devices = created.get(id) ?? [];
    const owner = ownerOf(devices, id);
    running.set(id, { name, devices });
    if (owner !== undefined) return `${name} and ${owner.name} both have ${devices.join()}`;
    const key = `${podUid}/${containerNameOf(name) ?? ""}`;
    for (const [resource, count] of demands.get(key) ?? []) {
      const has = devices.filter((device) => resourceOf(device) === resource).length;
      if (listed.has(resource) && has !== count) return `${name} asks for ${count} of ${resource} and has ${has}`;
    }
    const now = devices.join();
    const before = homes.get(key) ?? now;
    homes.set(key, before);
    return before === now ? undefined : `${name} had ${before} and has ${now} now`;
  };
  return {
    name: "ownDevices",
    sees: ["wanted", "change", "plugin"],
    check(observation) {
      switch (observation.kind) {
        case "wanted":
          for (const pod of observation.news) for (const [key, counts] of demandsOf(pod)) demands.set(key, counts);
          return undefined;
        case "plugin": {
          const { resource, what, ids } = observation;
          const known = listed.get(resource) ?? new Set<string>();
          if (what === "lists") listed.set(resource, new Set([...known, ...ids]));
          if (what !== "allocate") return undefined;
          const unknown = ids.find((id) => !known.has(id));
          if (unknown !== undefined) return `the plugin of ${resource} is asked for ${unknown}, which it never listed`;
          const owner = ownerOf(ids.map((id) => `${resource}=${id}`));
          return owner && `the plugin of ${resource} is asked for ${ids.join()} while ${owner.name} has them`;
        }
        case "change": {
          const { change } = observation;
          const { kind, id } = change;
          if (kind === "container created") created.set(id, ofPlugins(change.devices));
          if (kind === "container removed") created.delete(id);
          if (kind === "container exited") running.delete(id);
          return kind === "container started" ? started(change) : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}

/** Returns what each container of a pod asks for, of all extended resources. */
function demandsOf({ metadata: { uid }, spec }: Pod): readonly (readonly [string, Counts])[] {
  const all: readonly Container[] = [...(spec.initContainers ?? []), ...spec.containers];
  return all.map(({ name, resources }) => {
    const limits = Object.entries(resources?.limits ?? {}).filter(([resource]) => resource.includes("/"));
    return [`${uid}/${name}`, new Map(limits.map(([resource, count]) => [resource, Number(count)]))] as const;
  });
}
