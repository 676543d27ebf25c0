/** The part of systemd's manager that cgroups need: org.freedesktop.systemd1.Manager. */
import type { UnitProperty } from "../core/resources/systemdProperties.ts";
import type { Call } from "./call.ts";

/** Units by name, as `kubepods.slice`. Calls that begin a job end when it is queued, not when it is done. */
export interface Systemd {
  /** The major version, as 252. */
  version(): Call<number>;
  /** ActiveState: `active`, `activating`, `deactivating`, `failed`, `inactive`; a unit nobody knows is `inactive`. */
  unitState(unit: string): Call<string>;
  /** Makes a unit that lives until it is stopped. Fails when there is one of this name, running or not. */
  startTransientUnit(unit: string, properties: readonly UnitProperty[]): Call<void>;
  startUnit(unit: string): Call<void>;
  /** Until the unit or the machine stops. */
  setUnitProperties(unit: string, properties: readonly UnitProperty[]): Call<void>;
  /** Fails for a unit that is not loaded. */
  stopUnit(unit: string): Call<void>;
  /** Forgets that a unit failed. */
  resetFailedUnit(unit: string): Call<void>;
}
