/** The Cgroups port in memory: names and limits. Owns the hierarchy. */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { Call } from "../../ports/call.ts";
import type { CgroupDrift, CgroupResources, Cgroups } from "../../ports/cgroup.ts";
import type { Clock } from "../../ports/clock.ts";
import { later } from "../runtime/simCall.ts";

/** The port, and the state for checkers. */
export interface SimCgroups extends Cgroups {
  /** Returns the limits by name, sorted by name; cgroups created as parents have none. */
  all(): ReadonlyMap<string, CgroupResources>;
  /** Creates a cgroup without limits, as another program on the machine does. */
  add(name: string): void;
  /** Sets the memory that a cgroup uses; it uses none before. A memory limit below it is refused, as by cgroup v1. */
  useMemory(name: string, bytes: number): void;
  /** Changes limits of a cgroup, as another program on the machine does. */
  tamper(name: string, resources: CgroupResources): void;
  /** Removes all cgroups, as a boot does. */
  clear(): void;
}

export interface SimCgroupsOptions {
  readonly clock: Clock;
  readonly latencyMs?: number;
  /** Called before every operation; an error is its outcome. */
  fault?(operation: keyof Cgroups, name: string): ErrorCode | undefined;
}

/** Creates an empty hierarchy. */
export function createSimCgroups({ clock, latencyMs = 0, fault }: SimCgroupsOptions): SimCgroups {
  const groups = new Map<string, CgroupResources>();
  const usedBytes = new Map<string, number>();
  const call = <T>(operation: keyof Cgroups, name: string, effect: () => T): Call<T> =>
    later(clock, latencyMs, () => {
      const code = fault?.(operation, name);
      if (code !== undefined) throw kubeletError(code, `cannot ${operation} cgroup ${name}: injected fault`);
      return effect();
    });
  const ensure = (name: string, resources: CgroupResources) => {
    const used = usedBytes.get(name) ?? 0;
    if ((resources.memoryLimitBytes ?? used) < used) {
      throw kubeletError("Io", `cannot limit the memory of cgroup ${name}, which uses ${used} bytes: EBUSY`);
    }
    let parent = "";
    for (const part of name.split("/").slice(1, -1)) {
      parent = `${parent}/${part}`;
      if (!groups.has(parent)) groups.set(parent, {});
    }
    groups.set(name, { ...groups.get(name), ...resources });
  };
  return {
    ensure: (name, resources) => call("ensure", name, () => ensure(name, resources)),
    correct: (name, resources) =>
      call("correct", name, () => {
        const found = groups.get(name) ?? {};
        const drifts = driftsOf(name, found, resources);
        ensure(name, resources);
        return drifts;
      }),
    memoryUsage: (name) =>
      call("memoryUsage", name, () => {
        if (groups.has(name)) return usedBytes.get(name) ?? 0;
        throw kubeletError("NotFound", `cgroup ${name} does not exist`);
      }),
    update: (name, resources) =>
      call("update", name, () => {
        const found = groups.get(name);
        if (found === undefined) throw kubeletError("NotFound", `cgroup ${name} does not exist`);
        groups.set(name, { ...found, ...resources });
      }),
    destroy: (name) =>
      call("destroy", name, () => {
        for (const each of [...groups.keys()]) if (each === name || each.startsWith(`${name}/`)) groups.delete(each);
      }),
    list: (name) =>
      call("list", name, () => {
        const prefix = name === "/" ? "/" : `${name}/`;
        return [...groups.keys()]
          .filter((each) => each.startsWith(prefix) && !each.slice(prefix.length).includes("/"))
          .map((each) => each.slice(prefix.length))
          .sort();
      }),
    add: (name) => ensure(name, {}),
    useMemory: (name, bytes) => void usedBytes.set(name, bytes),
    tamper: (name, resources) => void groups.set(name, { ...groups.get(name), ...resources }),
    clear: () => groups.clear(),
    all: () => new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const driftsOf = (name: string, found: CgroupResources, wanted: CgroupResources): readonly CgroupDrift[] =>
  (Object.keys(wanted) as (keyof CgroupResources)[])
    .filter((key) => !sameValue(found[key], wanted[key]))
    .map((key) => ({
      file: `${name}/${key}`,
      found: JSON.stringify(found[key]) ?? "",
      wanted: JSON.stringify(wanted[key]),
    }));
