import { createSimIpTables } from "../../src/sim/host/simIpTables.ts";
import { realClock } from "../support/realClock.ts";
import { ipTablesConformance } from "./ipTablesConformance.ts";

ipTablesConformance("simulated", () => {
  const { port, flush } = createSimIpTables({ clock: realClock });
  return Promise.resolve({ port, flush: (family) => flush(family), close: () => Promise.resolve() });
});
