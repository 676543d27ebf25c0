/**
 * Memory on NUMA nodes: running Guaranteed containers have nodes, keep them over restarts, share a node only with those on
 * exactly the same nodes, and ask for no more than these nodes have.
 */
import type { MemoryPolicy } from "../../core/numaMemory/memoryPolicy.ts";
import type { SimChecker } from "../simChecker.ts";
import { pinnedContainers } from "./pinnedContainers.ts";

interface Held {
  readonly subject: string;
  readonly nodes: string;
  readonly bytes: number;
}

export function ownMemory({ nodes }: MemoryPolicy): SimChecker {
  const table = pinnedContainers();
  const running = new Map<string, Held>();
  const bytesOf = (ids: string): number =>
    nodes
      .filter(({ id }) => ids.split(",").includes(String(id)))
      .reduce((sum, { amounts }) => sum + (amounts.get("memory")?.allocatable ?? 0), 0);
  const overlap = (a: string, b: string): boolean => a.split(",").some((id) => b.split(",").includes(id));
  return {
    name: "ownMemory",
    sees: ["wanted", "change", "status"],
    check(observation) {
      table.look(observation);
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name: subject } = observation.change;
      if (kind === "container exited") running.delete(id);
      const { bytes } = table.wanted(podUid, subject);
      if (kind !== "container started" || bytes === 0) return undefined;
      const ids = table.created(id)?.mems ?? "";
      if (ids === "") return `${subject} asks for ${bytes} bytes and has no NUMA nodes`;
      running.set(id, { subject, nodes: ids, bytes });
      const other = [...running.values()].find((each) => each.nodes !== ids && overlap(each.nodes, ids));
      if (other !== undefined) return `${subject} has the NUMA nodes ${ids}, ${other.subject} has ${other.nodes}`;
      const sum = [...running.values()].reduce((all, each) => (each.nodes === ids ? all + each.bytes : all), 0);
      if (sum > bytesOf(ids)) return `containers ask for ${sum} bytes of the NUMA nodes ${ids}`;
      const before = table.home(podUid, subject, "mems", ids);
      return before === ids ? undefined : `${subject} had the NUMA nodes ${before} and has ${ids} now`;
    },
  };
}
