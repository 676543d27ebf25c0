/** The service manager that started this process: systemd. */
import type { Call } from "./call.ts";

/** Takes notifications of the state of this service. */
export interface ServiceManager {
  /**
   * Sends variable assignments (`READY=1`) in one message, and completes when it is in the manager's socket. Errors:
   * NotFound without the program that sends it, DeadlineExceeded, Io.
   */
  notify(assignments: readonly string[]): Call<void>;
}
