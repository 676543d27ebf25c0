/** Warnings to log at start: settings without effect, and deprecated flags. One line per kind. */
import { configAt } from "../core/config/configAtPath.ts";
import type { ConfigField } from "../core/config/configField.ts";
import { CONFIG_FIELDS, CONFIG_PATHS } from "../core/config/configFields.ts";
import { zeroOf } from "../core/config/defaultConfiguration.ts";
import type { ConfigPath, KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import { EVICTION_SIGNALS, isWatched } from "../core/eviction/thresholds.ts";
import type { ConfigDocument } from "./configDocument.ts";
import { idleDockerFlags } from "./dockerFlags.ts";
import { propertyOfFlag } from "./flags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";
import { defaultOfFlag, type GivenFlag, type ParsedFlags } from "./parseKubeletFlags.ts";
import { isJsonObject } from "../core/json.ts";

/** Equality of decoded values; the order of keys in maps does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, at) => isSame(one, b[at]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}

function isDefault(field: ConfigField, value: unknown): boolean {
  if (value === undefined) return true;
  return isSame(value, field.default ?? (field.pointer ? undefined : zeroOf(field.type)));
}

function hasEffect(field: ConfigField, value: unknown): boolean {
  return typeof field.effective === "boolean" ? field.effective : field.effective.includes(String(value));
}

const whyOf = (path: ConfigPath): string | undefined => (CONFIG_FIELDS[path] satisfies ConfigField).idle;

/** Members of lists are reported as the list. */
const isReportable = (path: ConfigPath): boolean => !path.includes("[]") && CONFIG_FIELDS[path].type !== "object";

/** Returns the endpoints of CRI servers that are set. */
const setEndpoints = (given: readonly GivenFlag[], documents: readonly ConfigDocument[]): readonly ConfigPath[] =>
  (["containerRuntimeEndpoint", "imageServiceEndpoint"] as const).filter((path) => isSetIn(path, given, documents));

const isSetIn = (path: ConfigPath, given: readonly GivenFlag[], documents: readonly ConfigDocument[]): boolean => {
  const steps = path.split(".");
  return (
    given.some(({ spec }) => spec.field === path) ||
    documents.some((document) => document.locate(steps).steps === steps.length)
  );
};

function configWithoutEffect(
  config: KubeletConfiguration,
  given: readonly GivenFlag[],
  documents: readonly ConfigDocument[],
): readonly ConfigPath[] {
  return CONFIG_PATHS.filter(isReportable).filter((path) => {
    const field = CONFIG_FIELDS[path];
    const value = configAt(config, path);
    return isSetIn(path, given, documents) && !isDefault(field, value) && !hasEffect(field, value);
  });
}

function flagsWithoutEffect(flags: KubeletFlags, given: readonly GivenFlag[]): readonly FlagSpec[] {
  const values = flags as unknown as Readonly<Record<string, unknown>>;
  return given
    .map(({ spec }) => spec)
    .filter((spec) => spec.field === undefined && !spec.effective)
    .filter((spec) => !isSame(values[propertyOfFlag(spec.name)], defaultOfFlag(spec)));
}

/** Returns accepted eviction signals without effect, by field. */
function ignoredSignals(config: KubeletConfiguration): readonly string[] {
  const fields = ["evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim"] as const;
  return fields.flatMap((field) =>
    Object.keys(config[field])
      .filter((signal) => EVICTION_SIGNALS.includes(signal) && !isWatched(signal))
      .map((signal) => `${field}.${signal}`),
  );
}

/** Returns the warnings of one start. */
export function startWarnings(
  config: KubeletConfiguration,
  flags: KubeletFlags,
  { given }: Pick<ParsedFlags, "given">,
  documents: readonly ConfigDocument[],
): readonly string[] {
  const idle = [
    ...configWithoutEffect(config, given, documents).map((path) => ({ name: path, why: whyOf(path) })),
    ...flagsWithoutEffect(flags, given).map((spec) => ({ name: `--${spec.name}`, why: spec.idle })),
  ];
  const notYet = idle.filter(({ why }) => why === undefined).map(({ name }) => name);
  const never = idle.flatMap(({ name, why }) => (why === undefined ? [] : [`${name} (${why})`]));
  const old = given
    .filter(({ spec }) => spec.deprecated !== undefined)
    .map(({ spec }) => `--${spec.name} (${spec.deprecated})`);
  const docker = idleDockerFlags(flags.containerRuntime, given);
  const endpoints = flags.containerRuntime === "docker" ? setEndpoints(given, documents) : [];
  const signals = ignoredSignals(config);
  const instead = "the thresholds of nodefs or imagefs count for the file system of containers, as upstream";
  return [
    ...(notYet.length === 0 ? [] : [`accepted but not yet effective: ${notYet.join(", ")}`]),
    ...(never.length === 0 ? [] : [`settings without effect: ${never.join(", ")}`]),
    ...(signals.length === 0 ? [] : [`ignored: ${signals.join(", ")}; ${instead}`]),
    ...(old.length === 0 ? [] : [`deprecated flags in use: ${old.join(", ")}`]),
    ...(docker.length === 0 ? [] : [`ignored without --container-runtime=docker: ${docker.join(", ")}`]),
    ...(endpoints.length === 0 ? [] : [`ignored with --container-runtime=docker: ${endpoints.join(", ")}`]),
  ];
}
