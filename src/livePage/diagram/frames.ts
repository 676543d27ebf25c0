/** Times of the latest frames in milliseconds, for tests and measurements. */
const KEPT = 512;

export class Frames {
  /** Time that drawing took, and the instant of each frame. The newest frame is at `(count - 1) % length`. */
  readonly drawMs = new Float64Array(KEPT);
  readonly at = new Float64Array(KEPT);
  count = 0;

  record(at: number, tookMs: number): void {
    const index = this.count % KEPT;
    this.at[index] = at;
    this.drawMs[index] = tookMs;
    this.count += 1;
  }
}
