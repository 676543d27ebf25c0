/** A node that mounts volumes with a label. */
export interface SelinuxNode {
  /** The gate SELinuxMount: volumes of all access modes, not those of one pod alone. */
  readonly allModes: boolean;
  /** Label of the files of containers, `user:role:type` and perhaps a level. */
  readonly fileLabel: string;
}
