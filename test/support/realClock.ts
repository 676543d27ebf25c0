/** Real time, for tests that talk to real processes. */
export { systemClock as realClock } from "../../src/sources/systemClock.ts";
