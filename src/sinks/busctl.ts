/** The Systemd port over D-Bus through systemd's own `busctl`; busctlCalls.ts has the bounds. */
import { map } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import type { UnitProperty } from "../core/resources/systemdProperties.ts";
import type { Call } from "../ports/call.ts";
import type { Systemd } from "../ports/systemd.ts";
import { busctlCalls, type BusctlOptions } from "./busctlCalls.ts";

const MANAGER = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
/** A unit in the answer of ListUnitsByNames. */
const ACTIVE_STATE_AT = 3;

const propertyWords = (properties: readonly UnitProperty[]): readonly string[] => [
  String(properties.length),
  ...properties.flatMap(({ name, signature, words }) => [name, signature, ...words]),
];

function stateIn(unit: string, data: unknown): string {
  const first: unknown = [data].flat(2)[0];
  const state: unknown = Array.isArray(first) ? first[ACTIVE_STATE_AT] : undefined;
  if (typeof state !== "string") throw kubeletError("Unknown", `systemd did not tell the state of ${unit}`);
  return state;
}

function versionIn(data: unknown): number {
  const version = Number.parseInt(String(data).replace(/^v/, ""), 10);
  if (!Number.isInteger(version)) throw kubeletError("Unknown", `systemd says it has the version ${String(data)}`);
  return version;
}

/**
 * Connects to systemd on the system bus. Errors: NotFound without busctl, DeadlineExceeded, Io with the text of
 * busctl.
 */
export function createBusctl(options: BusctlOptions): Systemd {
  const calls = busctlCalls(options);
  const order = (method: string, signature: string, unit: string, words: readonly string[] = []): Call<void> =>
    calls.order(`systemd ${method} ${unit}`, ["call", ...MANAGER, method, signature, unit, ...words]);
  return {
    version: () => calls.ask("systemd Version", ["get-property", ...MANAGER, "Version"]).pipe(map(versionIn)),
    unitState: (unit) =>
      calls
        .ask(`systemd state of ${unit}`, ["call", ...MANAGER, "ListUnitsByNames", "as", "1", unit])
        .pipe(map((data) => stateIn(unit, data))),
    startTransientUnit: (unit, properties) =>
      order("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, ["replace", ...propertyWords(properties), "0"]),
    startUnit: (unit) => order("StartUnit", "ss", unit, ["replace"]),
    setUnitProperties: (unit, properties) =>
      order("SetUnitProperties", "sba(sv)", unit, ["true", ...propertyWords(properties)]),
    stopUnit: (unit) => order("StopUnit", "ss", unit, ["replace"]),
    resetFailedUnit: (unit) => order("ResetFailedUnit", "s", unit),
  };
}
