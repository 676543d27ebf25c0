import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import { realClock } from "../support/realClock.ts";
import type { RuntimeFeatures } from "./runtimeFixture.ts";
import { runtimeServiceConformance } from "./runtimeService.ts";

/** Containers are processes of the host, so nothing is mounted. */
const features: RuntimeFeatures = {
  containerEvents: true,
  runtimeConfig: true,
  exec: true,
  logs: true,
  mounts: false,
};

runtimeServiceConformance("embedded runtime", features, async () => {
  const dir = mkdtempSync(join(tmpdir(), "rxc-"));
  const socketPath = join(dir, "s");
  const runtime = await runEmbeddedRuntime({ socketPath, stateDir: join(dir, "state") });
  const port = createCriClient({ endpoint: `unix://${socketPath}`, defaultDeadlineMs: 60_000, clock: realClock });
  return {
    port,
    image: "rxlet.dev/host",
    shell: ["/bin/sh", "-c"],
    logRoot: dir,
    features,
    close: async () => {
      port.close();
      await runtime.close({ stopContainers: true, graceMs: 0 });
      rmSync(dir, { recursive: true, force: true });
    },
  };
});
