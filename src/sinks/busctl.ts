/**
 * The Systemd port over D-Bus through systemd's own `busctl`: one short process per call. Bounds: 10 seconds per
 * call, 1 MiB of output. Requires systemd 240 or later (`--json`).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { map } from "rxjs";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import type { UnitProperty } from "../core/resources/systemdProperties.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { Systemd } from "../ports/systemd.ts";

/** The path of busctl. */
export interface BusctlOptions {
  readonly clock: Clock;
  /** Default: `busctl` on the PATH. */
  readonly program?: string;
}

const MANAGER = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REASON_CHARS = 500;
/** A unit in the answer of ListUnitsByNames. */
const ACTIVE_STATE_AT = 3;

const run = promisify(execFile);

const propertyWords = (properties: readonly UnitProperty[]): readonly string[] => [
  String(properties.length),
  ...properties.flatMap(({ name, signature, words }) => [name, signature, ...words]),
];

/** Passes on the error text of busctl unchanged, because busctl has no error codes. */
function callError(what: string, program: string, thrown: unknown): KubeletError {
  if (errnoOf(thrown) !== "") return ioError("run", program, thrown);
  const said = typeof thrown === "object" && thrown !== null && "stderr" in thrown ? String(thrown.stderr).trim() : "";
  return kubeletError("Io", `${what} failed: ${said.slice(0, MAX_REASON_CHARS) || String(thrown)}`, { cause: thrown });
}

/** Returns the `data` of a JSON answer. */
function dataOf(what: string, answer: string): unknown {
  try {
    const { data } = JSON.parse(answer) as { readonly data?: unknown };
    return data;
  } catch (thrown) {
    throw kubeletError("Unknown", `${what} was answered with what is no JSON`, { cause: thrown });
  }
}

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
export function createBusctl({ clock, program = "busctl" }: BusctlOptions): Systemd {
  const ask = (what: string, words: readonly string[]): Call<string> => {
    const late = (): KubeletError => kubeletError("DeadlineExceeded", `${what}: no answer within ${DEADLINE_MS} ms`);
    return fromCall((signal) =>
      run(program, ["--system", "--json=short", "--", ...words], { signal, maxBuffer: MAX_ANSWER_BYTES }).then(
        ({ stdout }) => stdout,
        (thrown: unknown) => {
          throw callError(what, program, thrown);
        },
      ),
    ).pipe(deadline(DEADLINE_MS, clock, late));
  };
  const order = (method: string, signature: string, unit: string, words: readonly string[] = []): Call<void> =>
    ask(`systemd ${method} ${unit}`, ["call", ...MANAGER, method, signature, unit, ...words]).pipe(
      map(() => undefined),
    );
  return {
    version: () =>
      ask("systemd Version", ["get-property", ...MANAGER, "Version"]).pipe(
        map((answer) => versionIn(dataOf("systemd Version", answer))),
      ),
    unitState: (unit) => {
      const what = `systemd state of ${unit}`;
      return ask(what, ["call", ...MANAGER, "ListUnitsByNames", "as", "1", unit]).pipe(
        map((answer) => stateIn(unit, dataOf(what, answer))),
      );
    },
    startTransientUnit: (unit, properties) =>
      order("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, ["replace", ...propertyWords(properties), "0"]),
    startUnit: (unit) => order("StartUnit", "ss", unit, ["replace"]),
    setUnitProperties: (unit, properties) =>
      order("SetUnitProperties", "sba(sv)", unit, ["true", ...propertyWords(properties)]),
    stopUnit: (unit) => order("StopUnit", "ss", unit, ["replace"]),
    resetFailedUnit: (unit) => order("ResetFailedUnit", "s", unit),
  };
}
