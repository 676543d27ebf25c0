/** Inputs of the steps of CSI volumes. */
import type { Node, Pod } from "../../core/api.ts";
import type { CsiDrivers } from "../../core/csi/csiDriverFacts.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { CsiDriverPort } from "../../ports/csiDrivers.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { Tokens } from "../projections/tokens.ts";
import type { HeldVolumes } from "./heldVolumes.ts";

/** The drivers of the node, and what requests to them need. */
export interface CsiContext {
  readonly port: CsiDriverPort;
  readonly drivers: ReadonlyCell<CsiDrivers>;
  readonly node: ReadonlyCell<Node | undefined>;
  readonly api: Pick<ApiServer, "get">;
  readonly tokens: Tokens | undefined;
  readonly nodeName: string;
  /** Otherwise nobody attaches volumes to the node, as upstream. */
  readonly isAttachedByController: boolean;
  readonly heldVolumes: HeldVolumes;
}

/** A CSI volume of a pod. */
export interface CsiVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly csi: CsiLayout };
}
