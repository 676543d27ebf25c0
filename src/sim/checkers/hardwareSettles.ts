/** CPUs that containers have, once all faults have ended, and what is still given out when no pod is left. */
import { parseCpuSet } from "../../core/cpu/cpuSet.ts";
import { cpuStatePath, memoryStatePath } from "../../core/paths.ts";
import type { SimNode } from "../simNode.ts";

/** The part of a node that is read. */
type HardwareNode = Pick<SimNode, "config" | "runtime"> & { readonly files: Pick<SimNode["files"], "read"> };

/** The fields of a state file that say what is given out. */
interface StateFile {
  readonly defaultCpuSet?: string;
  readonly entries?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function stateOf({ config: { hardware }, files }: HardwareNode, path: string): StateFile {
  if (hardware === undefined) return {};
  const text = files.read(path);
  return text === undefined ? {} : (JSON.parse(text) as StateFile);
}

/** Lists one sentence per running container that does not have the CPUs that the state file gives it. */
export function openMoves(node: HardwareNode): readonly string[] {
  const { defaultCpuSet = "", entries = {} } = stateOf(node, cpuStatePath(node.config.directories));
  if (node.config.hardware === undefined) return [];
  return node.runtime.containers().flatMap(({ phase, config, sandboxId, resources }) => {
    if (phase.kind !== "running") return [];
    const sandbox = node.runtime.sandboxes().find(({ id }) => id === sandboxId);
    const name = config.metadata?.name ?? "";
    const own = entries[sandbox?.config.metadata?.uid ?? ""]?.[name] ?? defaultCpuSet;
    const has = resources?.cpusetCpus ?? "";
    return has === own ? [] : [`${sandbox?.config.metadata?.name}/${name} runs on CPUs "${has}" instead of "${own}"`];
  });
}

/** Lists what the state files still give to pods that are gone. */
export function leakedHardware(node: HardwareNode): readonly string[] {
  const { directories, hardware } = node.config;
  if (hardware === undefined) return [];
  const cpus = stateOf(node, cpuStatePath(directories));
  const all = parseCpuSet(cpus.defaultCpuSet ?? "");
  const { topology, reserved, options } = hardware.cpus ?? {};
  const expected = (topology?.cpus.length ?? 0) - (options?.strictReservation === true ? (reserved?.length ?? 0) : 0);
  const shared = "cpus" in all ? all.cpus.length : 0;
  return [
    ...Object.keys(cpus.entries ?? {}).map((uid) => `CPUs of the pod ${uid}`),
    ...Object.keys(stateOf(node, memoryStatePath(directories)).entries ?? {}).map((uid) => `memory of the pod ${uid}`),
    ...(shared === expected ? [] : [`${shared} of ${expected} CPUs are shared`]),
  ];
}
