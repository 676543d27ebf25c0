/** systemd as far as slices go, in memory: who called what, and which unit is in which state. */
import { defer, of, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import type { UnitProperty } from "../../src/core/resources/systemdProperties.ts";
import type { Call } from "../../src/ports/call.ts";
import type { Systemd } from "../../src/ports/systemd.ts";

/** Injected errors by method. */
type Trouble = Partial<Record<keyof Systemd, string>>;

/** Without what every slice is made with. */
const limitsOf = (properties: readonly UnitProperty[]): readonly string[] =>
  properties.filter(({ signature }) => signature === "t").map(({ name, words }) => `${name}=${words.join(",")}`);

/** A manager whose jobs are done at once, unless `jobs` says what state they leave a unit in. */
export function memorySystemd(options: { readonly jobs?: { start?: string; stop?: string } } = {}) {
  const states = new Map<string, string>();
  const calls: string[] = [];
  const trouble: Trouble = {};
  const { start = "active", stop = "inactive" } = options.jobs ?? {};
  const call = <T>(method: keyof Systemd, words: readonly string[], effect: () => T): Call<T> =>
    defer(() => {
      if (method !== "unitState") calls.push([method, ...words].join(" "));
      const refusal = trouble[method];
      if (refusal !== undefined) return throwError(() => kubeletError("Io", refusal));
      const isThere = method === "startTransientUnit" && states.has(words[0] ?? "");
      return isThere ? throwError(() => kubeletError("Io", `Unit ${words[0]} was already loaded`)) : of(effect());
    });
  const systemd: Systemd = {
    version: () => call("version", [], () => 252),
    unitState: (unit) => call("unitState", [unit], () => states.get(unit) ?? "inactive"),
    startTransientUnit: (unit, properties) =>
      call("startTransientUnit", [unit, ...limitsOf(properties)], () => void states.set(unit, start)),
    startUnit: (unit) => call("startUnit", [unit], () => void states.set(unit, start)),
    setUnitProperties: (unit, properties) =>
      call("setUnitProperties", [unit, ...limitsOf(properties)], () => undefined),
    stopUnit: (unit) =>
      call("stopUnit", [unit], () => void (stop === "inactive" ? states.delete(unit) : states.set(unit, stop))),
    resetFailedUnit: (unit) => call("resetFailedUnit", [unit], () => void states.delete(unit)),
  };
  return { systemd, states, calls, trouble };
}
