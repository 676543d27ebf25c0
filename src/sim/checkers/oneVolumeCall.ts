/**
 * A kubelet stages, unstages or expands a volume alone: meanwhile it makes no other call for the volume. Pods may publish a staged
 * volume at the same time.
 */
import type { SimChecker } from "../simChecker.ts";

const ALONE: ReadonlySet<string> = new Set(["NodeStageVolume", "NodeUnstageVolume", "NodeExpandVolume"]);

export function oneVolumeCall(): SimChecker {
  const open = new Map<number, { readonly name: string; readonly rpc: string }>();
  return {
    name: "oneVolumeCall",
    sees: ["csi"],
    check(observation) {
      if (observation.kind !== "csi") return undefined;
      const { driver, rpc, what, volume, call } = observation;
      const name = `${driver} ${volume}`;
      if (what === "ended") open.delete(call);
      if (what !== "asked") return undefined;
      const other = [...open.values()].find((each) => each.name === name && (ALONE.has(rpc) || ALONE.has(each.rpc)));
      open.set(call, { name, rpc });
      return other && `${rpc} of ${name} begins while ${other.rpc} is not answered`;
    },
  };
}
