/** A volume that is staged for no pod, and why it is not unstaged. */
export interface LeftStage {
  /** DRIVER^HANDLE. */
  readonly volume: string;
  /** Where its driver has staged it. */
  readonly path: string;
  readonly reason: string;
}
