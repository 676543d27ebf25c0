/** Changes of the node's network. Each emission is a reason to look, never a state. */
import type { Observable } from "rxjs";

export interface NetworkChanges {
  /**
   * Emits when it watches, then after changes of addresses and default routes. Errors when it cannot watch, or no longer.
   */
  readonly addresses$: Observable<unknown>;
  /** Emits when it watches, then when the file at the path may have changed, links followed. Errors: Io. */
  file(path: string): Observable<unknown>;
}
