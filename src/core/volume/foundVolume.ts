/** Layout of a volume whose claim or driver was looked up. Upstream: FindPluginBySpec of pkg/volume/plugins.go. */
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { csiLayout } from "../csi/csiLayout.ts";
import { diskBlockLayout } from "../disk/diskBlock.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { blockPlaces } from "./blockVolume.ts";
import { type CsiOrigin, csiNotServed } from "./csiVolume.ts";
import {
  layoutOfOrigin,
  LOCAL_PLUGIN,
  notServed,
  type VolumeLayout,
  type VolumeNode,
  type VolumeOrigin,
} from "./volumeLayout.ts";
import { checkVolumeMode } from "./volumeMode.ts";

/** Returns the layout of the pod's volume `name`, or why no volume plugin supports the volume. */
export function layoutOfFound(pod: Pod, name: string, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  const checked = checkVolumeMode(pod, name, origin);
  if (!checked.ok) return checked;
  const found =
    origin.csi === undefined ? inTree(pod, origin, node) : layoutOfCsi(pod, { ...origin, csi: origin.csi }, node);
  if (!found.ok) return found;
  const { nodeTerms, capacity } = origin;
  return ok({ ...found.value, ...(nodeTerms && { nodeTerms }), ...(capacity && { capacity }) });
}

function inTree(pod: Pod, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  if (origin.isBlock === true) return inTreeBlock(pod, origin, node);
  const found = layoutOfOrigin(pod, origin, node);
  return found === undefined ? notServed(origin.name, "its kind is not served") : ok(found);
}

function inTreeBlock(pod: Pod, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  const { name, local, fc, iscsi, readOnly = false } = origin;
  const { directories } = node;
  const { uid } = pod.metadata;
  const onDisk = fc === undefined && iscsi === undefined ? undefined : layoutOfOrigin(pod, origin, node);
  if (onDisk !== undefined) return ok(diskBlockLayout(onDisk, uid, directories));
  if (local === undefined) {
    const why = "MapVolume.FindMapperPluginBySpec failed to find BlockVolumeMapper plugin. Volume plugin is nil.";
    return err(kubeletError("Unimplemented", `${why} for volume ${goQuote(name)}`, { reason: "FailedMount" }));
  }
  const places = blockPlaces(directories, { uid, plugin: LOCAL_PLUGIN, name });
  return ok({
    ...{ name, plugin: LOCAL_PLUGIN, path: places.link, block: { ...places, device: local.path } },
    ...{ isOwnDirectory: false, hasContent: false, isReadOnly: readOnly, selinuxRelabel: false },
  });
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
