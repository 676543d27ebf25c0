/** Layout of a volume whose claim or driver was looked up. Upstream: FindPluginBySpec of pkg/volume/plugins.go. */
import type { Pod } from "../api.ts";
import { csiLayout } from "../csi/csiLayout.ts";
import { ok, type Result } from "../result.ts";
import { type CsiOrigin, csiNotServed } from "./csiVolume.ts";
import { layoutOfOrigin, notServed, type VolumeLayout, type VolumeNode, type VolumeOrigin } from "./volumeLayout.ts";

/** Returns the layout, or why no volume plugin supports the volume. */
export function layoutOfFound(pod: Pod, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  const found =
    origin.csi === undefined ? inTree(pod, origin, node) : layoutOfCsi(pod, { ...origin, csi: origin.csi }, node);
  const { nodeTerms } = origin;
  return found.ok && nodeTerms !== undefined ? ok({ ...found.value, nodeTerms }) : found;
}

function inTree(pod: Pod, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  const found = layoutOfOrigin(pod, origin, node);
  return found === undefined ? notServed(origin.name, "its kind is not served") : ok(found);
}

function layoutOfCsi(
  pod: Pod,
  origin: VolumeOrigin & { readonly csi: CsiOrigin },
  { directories, csi: drivers }: VolumeNode,
): Result<VolumeLayout> {
  return drivers === undefined || origin.csi.known === undefined
    ? notServed(origin.name, csiNotServed(origin.csi))
    : csiLayout(pod, origin, { directories, csi: drivers });
}
