/**
 * A process in which something goes wrong where nobody expects it; argument: what. It stays when nothing ends it, and
 * prints what it counted.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catchError, EMPTY, timer } from "rxjs";
import { watchThreads } from "../../src/commands/endProcess.ts";
import { failOnBrokenInvariants } from "../../src/commands/fail.ts";
import { surviveUnhandled } from "../../src/commands/surviveUnhandled.ts";
import { invariant } from "../../src/core/invariant.ts";
import { RuntimeServiceDefinition, VersionRequest } from "../../src/gen/cri.ts";
import { fromCall } from "../../src/operators/fromCall.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import { createLogger } from "../../src/sinks/logger.ts";
import { createMetrics } from "../../src/sinks/metrics.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { startGrpcServer } from "./grpcServer.ts";
import { NO_PODS, testKubeletApp } from "./kubeletApp.ts";

const breakIt = (): never => {
  invariant(false, "broken by the test");
  throw new Error("not reached");
};

async function callRuntime(onCall: () => void): Promise<void> {
  const socket = join(mkdtempSync(join(tmpdir(), "rxlet-broken-")), "s");
  await startGrpcServer(socket, RuntimeServiceDefinition, {
    version: (_: unknown, answer: Answer) => answer(null, {}),
  });
  const client = createCriClient({
    endpoint: `unix://${socket}`,
    clock: systemClock,
    defaultDeadlineMs: 5_000,
    onCall,
  });
  client.runtime
    .version(VersionRequest.create())
    .pipe(catchError(() => EMPTY))
    .subscribe();
}
type Answer = (error: null, answer: object) => void;

const PLACES: Readonly<Record<string, () => unknown>> = {
  "a server route": () =>
    testKubeletApp({ queries: { ...NO_PODS, pods: breakIt } }).app.request("/pods", {}, { incoming: { socket: {} } }),
  "a promise of a sink": () =>
    fromCall(() => Promise.resolve().then(breakIt))
      .pipe(catchError(() => EMPTY))
      .subscribe(),
  "a promise whose failure is ignored": () => {
    Promise.resolve()
      .then(breakIt)
      .catch(() => undefined);
  },
  "a callback of gRPC": () => callRuntime(breakIt),
  "a timer": () => timer(1, systemClock.scheduler).subscribe(breakIt),
  "an exception": () =>
    timer(1, systemClock.scheduler).subscribe(() => {
      throw new TypeError("a bug");
    }),
  "a rejection": () => {
    void Promise.resolve()
      .then(() => JSON.parse("no JSON") as unknown)
      .finally(() => undefined);
  },
};

watchThreads();
failOnBrokenInvariants();
const metrics = createMetrics();
const log = createLogger({ format: "text", verbosity: 2, wallTime: () => systemClock.wallTime() });
surviveUnhandled({ log, metrics }, systemClock).subscribe({ error: () => process.exit(3) });
await PLACES[process.argv[2] ?? ""]?.();
timer(200, systemClock.scheduler).subscribe(() => {
  void metrics.render().then((page) => {
    process.stdout.write(
      page
        .split("\n")
        .filter((line) => line.startsWith("rxlet_unhandled_errors_total"))
        .join("\n"),
    );
    process.exit(0);
  });
});
