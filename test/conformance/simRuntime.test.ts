import { tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { exitsWith, ignoresTerm, type SimProgram, type SimProgramInput } from "../../src/sim/runtime/simProgram.ts";
import { createSimRuntime } from "../../src/sim/runtime/simRuntime.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import type { Programs, RuntimeFeatures } from "./runtimeFixture.ts";
import { runtimeServiceConformance } from "./runtimeService.ts";

const IMAGE = "registry.example/simulated:1";

const programs: Programs = {
  exits: (code) => ["exits", String(code)],
  runsUntilTerm: (code) => ["runs until TERM", String(code)],
  ignoresTerm: () => ["ignores TERM"],
  prints: () => ["exits", "0"],
  printsForever: () => ["runs until TERM", "0"],
  printsEnvironment: () => ["exits", "0"],
  missing: () => ["missing"],
};

/** Commands run inside: the scripts of the suite. */
const exec: NonNullable<SimProgram["exec"]> = (command) => {
  const script = command.at(-1) ?? "";
  if (script.startsWith("sleep")) return { afterMs: 30_000, code: 0 };
  if (script === "true") return { afterMs: 0, code: 0 };
  return { afterMs: 0, code: 7, stdout: "out\n", stderr: "err\n" };
};

function behave({ container }: SimProgramInput): SimProgram {
  const [name = "", code = "0"] = container.command;
  switch (name) {
    case "exits":
      return exitsWith(Number(code));
    case "runs until TERM":
      return { onTerm: { afterMs: 5, code: Number(code) }, exec };
    case "ignores TERM":
      return ignoresTerm;
    default:
      return { failsToStart: `exec: "${name}": executable file not found in $PATH` };
  }
}

for (const modern of [true, false]) {
  const features: RuntimeFeatures = {
    containerEvents: modern,
    runtimeConfig: modern,
    exec: true,
    logs: false,
    mounts: false,
  };
  runtimeServiceConformance(`simulated${modern ? "" : ", without events"}`, features, async () => {
    const logRoot = await mkdtemp(join(tmpdir(), "rxlet-sim-"));
    const { runtime, images } = createSimRuntime({
      clock: systemClock,
      programs: behave,
      // Images have no registry digest, like images that containerd imports from an archive.
      images: [{ ...simImage(IMAGE), repoDigests: [] }],
      latency: () => 1,
      modern,
    });
    return {
      port: { runtime, images },
      image: IMAGE,
      shell: ["/bin/sh", "-c"],
      programs,
      logRoot,
      features,
      close: () => rm(logRoot, { recursive: true }),
    };
  });
}
