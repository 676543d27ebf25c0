/** Each accepted setting without effect is reported. */
import { describe, expect, it } from "vitest";
import type { ConfigDocument } from "../../../src/cli/configDocument.ts";
import { resolveFeatureGates } from "../../../src/cli/featureGates.ts";
import type { KubeletFlags } from "../../../src/cli/kubeletFlags.ts";
import { OWN_FLAGS } from "../../../src/cli/ownFlags.ts";
import { propertyOfFlag } from "../../../src/cli/flags.ts";
import { startWarnings } from "../../../src/cli/startWarnings.ts";
import type { ConfigField } from "../../../src/core/config/configField.ts";
import { CONFIG_FIELDS, CONFIG_PATHS } from "../../../src/core/config/configFields.ts";
import { defaultConfiguration, zeroOf } from "../../../src/core/config/defaultConfiguration.ts";
import type { KubeletConfiguration } from "../../../src/core/config/kubeletConfiguration.ts";

const { gates } = resolveFeatureGates({});
const DEFAULTS = defaultConfiguration({}, (name) => gates.get(name) === true);
const FLAGS = {} as KubeletFlags;
const NONE = { given: [] };
/** A file that has one field. */
const fileWith = (path: string) =>
  [
    { locate: (steps: readonly string[]) => ({ steps: steps.join(".") === path ? steps.length : 0 }) },
  ] as unknown as readonly ConfigDocument[];

/** Any value but the default and the zero one. */
function otherThan({ type, default: value }: ConfigField): unknown {
  if (type === "bool") return value !== true;
  const zero = zeroOf(type);
  if (typeof zero === "number") return Number(value ?? zero) + 1;
  if (Array.isArray(zero)) return ["x"];
  return typeof zero === "object" ? { x: "y" } : "x";
}

function withValue(path: string, value: unknown): KubeletConfiguration {
  const config = structuredClone(DEFAULTS) as unknown as Record<string, unknown>;
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let at = config;
  for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
  at[last] = value;
  return config as unknown as KubeletConfiguration;
}

const warningOf = (name: string, why: string | undefined): string =>
  why === undefined ? `accepted but not yet effective: ${name}` : `settings without effect: ${name} (${why})`;

describe("startWarnings", () => {
  const idle = CONFIG_PATHS.filter((path) => {
    const field: ConfigField = CONFIG_FIELDS[path];
    return field.effective === false && field.type !== "object" && !path.includes("[]");
  });

  it.each(idle)("names %s, which has no effect, when it is set", (path) => {
    const config = withValue(path, otherThan(CONFIG_FIELDS[path]));
    expect(startWarnings(config, FLAGS, NONE, fileWith(path))).toEqual([warningOf(path, CONFIG_FIELDS[path].idle)]);
    expect(startWarnings(DEFAULTS, FLAGS, NONE, fileWith(path))).toEqual([]);
  });

  it.each(
    OWN_FLAGS.filter(({ effective, type }) => !effective && type !== "version").map(
      (spec) => [spec.name, spec] as const,
    ),
  )("names --%s, which has no effect, when it is set", (name, spec) => {
    const flags = { [propertyOfFlag(name)]: "other" } as unknown as KubeletFlags;
    const [warning] = startWarnings(DEFAULTS, flags, { given: [{ spec, value: "other" }] }, []);
    expect(warning).toBe(warningOf(`--${name}`, spec.idle));
  });

  it("names signals of containerfs, whose thresholds are those of another file system", () => {
    const more = {
      evictionHard: { "containerfs.available": "5%", "nodefs.available": "5%" },
      evictionSoft: { "containerfs.inodesFree": "5%" },
    };
    expect(startWarnings({ ...DEFAULTS, ...more }, FLAGS, NONE, [])).toEqual([
      "ignored: evictionHard.containerfs.available, evictionSoft.containerfs.inodesFree; the thresholds of nodefs or " +
        "imagefs count for the file system of containers, as upstream",
    ]);
  });
});
