/** The login manager of systemd, which delays a shutdown of the machine: org.freedesktop.login1.Manager. */
import type { Observable } from "rxjs";
import type { Call } from "./call.ts";

/** Shutdowns of the machine, and the delay that a program may ask for. */
export interface Logind {
  /** Returns the longest delay of a shutdown in milliseconds; Infinity without a limit. */
  inhibitDelayMs(): Call<number>;
  /** Writes a setting for a longer delay, in whole seconds. Errors: Io. */
  overrideInhibitDelay(seconds: number): Call<void>;
  /** Makes the login manager read its settings again, which takes effect a little later. */
  reload(): Call<void>;
  /**
   * Delays shutdowns while subscribed. Emits once when the lock is held. Errors when it cannot be had, for instance
   * because a shutdown is under way, or when it is lost.
   */
  inhibit(): Observable<void>;
  /**
   * Emits whether the machine is about to shut down: at once, then at each change. Errors when the login manager cannot be
   * reached or the watch ends.
   */
  shutdowns(): Observable<boolean>;
}
