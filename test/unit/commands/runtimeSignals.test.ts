/** The gate EventedPLEG: turned off by name, no event of the runtime is asked for, and relists go on often. */
import { NEVER, of } from "rxjs";
import { expect, it } from "vitest";
import { runtimeSignals } from "../../../src/commands/runtimeSignals.ts";
import { marbles } from "../../support/marbles.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

it.each([
  ["off", { EventedPLEG: false }, "unsupported", 0],
  ["on", { EventedPLEG: true }, "opening", 1],
  ["not set", {}, "opening", 1],
])("%s", (_, gates, kind, streams) =>
  marbles((m) => {
    let asked = 0;
    const runtime = {
      status: () => of({}),
      getContainerEvents: () => {
        asked += 1;
        return NEVER;
      },
    };
    const client = { runtime, containerdEvents: { subscribe: () => NEVER } } as unknown as Parameters<
      typeof runtimeSignals
    >[1];
    const ports = { clock: m.clock, rng: fixedRng(0.5), telemetry: recordingTelemetry() };
    const seen: string[] = [];
    const subscription = runtimeSignals(gates, client, ports).subscribe((signal) => seen.push(signal.kind));
    m.at(50, () => subscription.unsubscribe());
    m.flush();
    expect([seen[0], asked]).toEqual([kind, streams]);
  })(),
);
