/** The methods of systemd's manager that cgroups need: org.freedesktop.systemd1.Manager. */
import type { UnitProperty } from "../core/resources/systemdProperties.ts";
import type { Call } from "./call.ts";

/**
 * Units by name, such as `kubepods.slice`. A call that starts a job completes when the job is queued, not when it has
 * finished.
 */
export interface Systemd {
  /** Returns the major version, such as 252. */
  version(): Call<number>;
  /**
   * Returns ActiveState: `active`, `activating`, `deactivating`, `failed` or `inactive`; `inactive` for an unknown
   * unit.
   */
  unitState(unit: string): Call<string>;
  /** Creates a unit that lives until it is stopped. Errors when a unit of this name exists, running or not. */
  startTransientUnit(unit: string, properties: readonly UnitProperty[]): Call<void>;
  startUnit(unit: string): Call<void>;
  /** Sets properties until the unit or the machine stops. */
  setUnitProperties(unit: string, properties: readonly UnitProperty[]): Call<void>;
  /** Stops a unit. Errors when the unit is not loaded. */
  stopUnit(unit: string): Call<void>;
  /** Clears the failed state of a unit. */
  resetFailedUnit(unit: string): Call<void>;
}
