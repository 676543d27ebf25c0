/** The embedded runtime as a program of its own, for tests that kill it: arguments are socket and state directory. */
import { runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";

const [socketPath = "", stateDir = ""] = process.argv.slice(2);
await runEmbeddedRuntime({ socketPath, stateDir });
process.stdout.write("serving\n");
