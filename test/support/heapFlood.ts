/** Parks requests for answers that never come until their memory was twice the heap; says how many were refused. */
import { NEVER } from "rxjs";
import { createMemoryShedder } from "../../src/commands/memoryShedder.ts";
import { answerCache } from "../../src/server/auth/answerCache.ts";
import { memoryReadings } from "../../src/sources/memoryReadings.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";

const [mode, totalMib] = process.argv.slice(2);
const REQUESTS_PER_MIB = 8;
/** Numbers per array, 8 bytes each, in V8's heap. */
const NUMBERS = 16_384;
const telemetry = recordingTelemetry();
const shedder = createMemoryShedder();
const ask = answerCache<{ readonly key: string; readonly payload: readonly number[] }, boolean>({
  name: "flood",
  shedding: shedder,
  clock: systemClock,
  maxEntries: 1,
  waiting: { max: Infinity, maxOfClient: Infinity },
  isRefusal: () => false,
  clientOf: () => "",
  keyOf: ({ key }) => key,
  ask: () => NEVER,
  lifeMs: () => 0,
});
const shedder$ = shedder.run(memoryReadings(systemClock), telemetry, systemClock);
const watching = mode === "with" ? shedder$.subscribe() : undefined;
let parked = 0;
let refused = 0;
function park(): void {
  for (let index = 0; index < REQUESTS_PER_MIB; index += 1) {
    parked += 1;
    const payload = Array.from({ length: NUMBERS }, (_, at) => at + 0.5);
    ask({ key: String(parked), payload }).subscribe({ error: () => (refused += 1) });
  }
  if (parked < Number(totalMib) * REQUESTS_PER_MIB) setImmediate(park);
  else {
    process.stdout.write(JSON.stringify({ parked, refused, lines: telemetry.lines.length }));
    watching?.unsubscribe();
    process.exit(0);
  }
}
park();
