/** Every feature gate does something, or says why it does not. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { resolveFeatureGates } from "../../../src/cli/featureGates.ts";
import { GATE_EFFECTS, gateEffectWarnings } from "../../../src/cli/gateEffects.ts";
import { FEATURE_GATES } from "../../../src/cli/gateTable.ts";

const SOURCES = fileURLToPath(new URL("../../../src/", import.meta.url));
const gatesOf = (settings: Readonly<Record<string, boolean>>) => resolveFeatureGates(settings).gates;
const warningsOf = (settings: Readonly<Record<string, boolean>>) => gateEffectWarnings(settings, gatesOf(settings));

describe("the effects of feature gates", () => {
  it("are known for each gate there is", () => {
    expect([...FEATURE_GATES.keys()].filter((name) => !GATE_EFFECTS.has(name))).toEqual([]);
    expect([...GATE_EFFECTS.keys()]).toEqual([...FEATURE_GATES.keys()]);
  });

  it("come from code that reads the gate, where it is heeded", () => {
    const files = globSync("**/*.ts", { cwd: SOURCES }).filter((file) => !/cli\/gate|gen\//.test(file));
    const source = files.map((file) => readFileSync(`${SOURCES}${file}`, "utf8")).join("\n");
    const heeded = [...GATE_EFFECTS].filter(([, { kind }]) => kind === "heeded").map(([name]) => name);
    const unread = heeded.filter((name) => !source.includes(`"${name}"`));
    expect(unread).toEqual([]);
  });

  it("are fixed only for gates with a reason", () => {
    const reasons = [...GATE_EFFECTS.values()].flatMap((effect) => {
      if (effect.kind === "fixed") return [effect.why];
      return effect.kind === "foreign" ? [effect.component] : [];
    });
    expect(reasons.filter((why) => why.length < 8)).toEqual([]);
  });

  it("are those of a locked gate where upstream locks it, and the feature is here", () => {
    const turnable = [...GATE_EFFECTS].filter(
      ([name, effect]) => effect.kind === "heeded" && FEATURE_GATES.get(name)?.locked === true,
    );
    expect(turnable).toEqual([]);
  });
});

describe("warnings at start", () => {
  it.each<[string, Readonly<Record<string, boolean>>, readonly string[]]>([
    ["nothing set", {}, []],
    ["a heeded gate", { ContainerStopSignals: true, EnvFiles: false }, []],
    ["a feature that is always on, left on", { PLEGOnDemandRelist: true }, []],
    [
      "a feature that is always on, turned off",
      { PLEGOnDemandRelist: false },
      [
        "feature gates without effect: PLEGOnDemandRelist=false (a pod is inspected as soon as the runtime reports a change of it)",
      ],
    ],
    [
      "a feature that does not exist, turned on",
      { NodeSwap: true, SystemdWatchdog: true, KubeletTracing: true, RuntimeClassInImageCriApi: true },
      ["feature gates without effect: RuntimeClassInImageCriApi=true (images are pulled without the RuntimeClass)"],
    ],
    ["a feature that does not exist, left off", { CRIListStreaming: false }, []],
    [
      "a gate of another component, but for its default",
      { HPAScaleToZero: true, WatchList: true },
      ["feature gates of other components, without effect here: HPAScaleToZero"],
    ],
  ])("%s", (_, settings, warnings) => {
    expect(warningsOf(settings)).toEqual(warnings);
  });

  it("name what AllAlpha turns on without effect", () => {
    const [idle, foreign] = warningsOf({ AllAlpha: true });
    expect([idle, foreign]).toEqual([
      expect.stringMatching(/^feature gates without effect: CRIListStreaming=true /),
      expect.stringContaining("HPAScaleToZero"),
    ]);
    expect(idle).not.toMatch(/MemoryQoS|PodsAPI/);
  });
});
