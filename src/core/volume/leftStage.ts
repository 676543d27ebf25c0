/** A volume of the node that no pod has, and why it stays. */
export interface LeftStage {
  /** DRIVER^HANDLE of a CSI volume, DRIVER/NAME of a flexVolume, the directory of a disk of the network. */
  readonly volume: string;
  /** Where the node has it. */
  readonly path: string;
  readonly reason: string;
}
