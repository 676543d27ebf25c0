/**
 * CPUs of containers alone: no CPU belongs to two of them, a container has as many as it asks for and keeps them over
 * restarts, and no other container is given any of them. Models the rule without the code of the kubelet.
 */
import { parseCpuSet } from "../../core/cpu/cpuSet.ts";
import type { SimChecker } from "../simChecker.ts";
import { pinnedContainers } from "./pinnedContainers.ts";

const cpusOf = (text: string): readonly number[] => {
  const parsed = parseCpuSet(text);
  return "cpus" in parsed ? parsed.cpus : [];
};

export function ownCpus(): SimChecker {
  const table = pinnedContainers();
  /** CPUs of running containers alone, by container id. */
  const alone = new Map<string, { readonly subject: string; readonly cpus: readonly number[] }>();
  const ownerOf = (cpus: readonly number[], exceptId = "") =>
    [...alone].find(([id, of]) => id !== exceptId && of.cpus.some((cpu) => cpus.includes(cpu)))?.[1];
  return {
    name: "ownCpus",
    sees: ["wanted", "call", "change", "status"],
    check(observation) {
      table.look(observation);
      if (observation.kind === "call") {
        const { subject, podUid, cpus, rpc } = observation;
        if (table.wanted(podUid, subject).cpus > 0) return undefined;
        if (cpus === undefined) {
          // A new container without a CPU set runs on all CPUs; an update without it leaves the CPUs as they are.
          const [any] = rpc === "CreateContainer" ? alone.values() : [];
          return any && `${subject} is to run on all CPUs (${rpc}), of which ${any.subject} has ${any.cpus.join()}`;
        }
        const owner = ownerOf(cpusOf(cpus));
        return owner && `${subject} is to run on ${cpus} (${rpc}), of which ${owner.subject} has ${owner.cpus.join()}`;
      }
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name } = observation.change;
      if (kind === "container exited") alone.delete(id);
      const count = table.wanted(podUid, name).cpus;
      if (kind !== "container started" || count === 0) return undefined;
      const text = table.created(id)?.cpus ?? "";
      const cpus = cpusOf(text);
      const owner = ownerOf(cpus, id);
      alone.set(id, { subject: name, cpus });
      if (cpus.length !== count) return `${name} asks for ${count} CPUs alone and has "${text}"`;
      if (owner !== undefined) return `${name} and ${owner.subject} both have CPUs of ${text}`;
      const before = table.home(podUid, name, "cpus", text);
      return before === text ? undefined : `${name} had the CPUs ${before} and has ${text} now`;
    },
  };
}
