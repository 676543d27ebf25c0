/**
 * Builds the daemon's options: flags override drop-ins, drop-ins override the configuration file, and that overrides
 * the defaults. Without a configuration file the defaults are the flags' legacy ones (AlwaysAllow), as upstream.
 * Returns all errors of all sources at once; core/config/decodeConfiguration.ts rejects unknown fields. Upstream:
 * cmd/kubelet/app/server.go.
 */
import { withConfigAt } from "../core/config/configAtPath.ts";
import { type ConfigProblem, type FieldPath, formatFieldPath } from "../core/config/configProblem.ts";
import { decodeConfiguration, type PartialConfiguration } from "../core/config/decodeConfiguration.ts";
import {
  defaultConfiguration,
  type GateEnabled,
  withDefaultEviction,
  withLegacyDefaults,
} from "../core/config/defaultConfiguration.ts";
import { encodeConfiguration } from "../core/config/encodeConfiguration.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import { mergePatch } from "../core/config/mergePatch.ts";
import { validateConfiguration } from "../core/config/validateConfiguration.ts";
import { type ConfigDocument, documentErrors, errorsInOrder, type PlacedError } from "./configDocument.ts";
import { readConfigFiles } from "./configFiles.ts";
import type { ConfigReaders } from "./configReaders.ts";
import { resolveFeatureGates } from "./featureGates.ts";
import { gateEffectWarnings } from "./gateEffects.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";
import type { KubeletOptions } from "./kubeletOptions.ts";
import { loadApiClients } from "./loadApiClients.ts";
import { markBitProblems, markBits } from "./markBits.ts";
import { loadCredentialProviders } from "./loadCredentialProviders.ts";
import { nodeFlagFaults } from "./nodeFlagFaults.ts";
import { OWN_FLAGS } from "./ownFlags.ts";
import { type GivenFlag, ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import { startWarnings } from "./startWarnings.ts";
import { isJsonObject } from "../core/json.ts";

/** The options, or all errors. */
export type LoadedOptions =
  | { readonly ok: true; readonly options: KubeletOptions }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads the files in the flags, merges and validates everything. Never rejects. */
export async function loadKubeletOptions(parsed: ParsedFlags, readers: ConfigReaders): Promise<LoadedOptions> {
  const flags = ownFlagValues(parsed.given, OWN_FLAGS) as unknown as KubeletFlags;
  const files = await readConfigFiles(flags, readers);
  const documents = [...(files.base === undefined ? [] : [files.base]), ...files.dropIns];
  const gates = gateSettings(documents, parsed.given);
  const resolved = resolveFeatureGates(gates);
  const isOn: GateEnabled = (name) => resolved.gates.get(name) === true;
  const config = mergedConfiguration(files.base, files.dropIns, parsed.given, isOn);

  const marks = markBits(config, documents);
  const broken = documents.flatMap((document) => document.decoded.problems.map(({ path }) => path));
  const problems: readonly ConfigProblem[] = [
    ...resolved.problems.map(({ gate, reason }) => ({ path: ["featureGates", gate], reason })),
    ...validateConfiguration(config, isOn),
    ...markBitProblems(marks),
  ];
  const clients = await loadApiClients(flags, readers);
  const plugins = await loadCredentialProviders(
    flags,
    readers,
    isOn("KubeletServiceAccountTokenForCredentialProviders"),
  );
  const errors = [
    ...parsed.errors,
    ...nodeFlagFaults(flags),
    ...clients.errors,
    ...(plugins.ok ? [] : plugins.errors),
    ...files.errors,
    ...errorsInOrder(
      [
        ...documents.flatMap(documentErrors),
        ...problems
          .filter(({ path }) => !broken.some((other) => overlaps(path, other)))
          .map((problem) => placedProblem(problem, documents, parsed.given)),
      ],
      documents.map(({ file }) => file),
    ),
  ];
  if (errors.length > 0) return { ok: false, errors };
  const started = startWarnings(config, flags, parsed, documents);
  const idleGates = gateEffectWarnings(gates, resolved.gates);
  const warnings = [...resolved.warnings, ...idleGates, ...started, ...files.warnings, ...clients.warnings];
  const { client, bootstrap } = clients;
  const credentialPlugins = plugins.ok ? plugins.plugins : undefined;
  return {
    ok: true,
    options: {
      ...{ flags, config, flagConfig: mergedConfiguration(undefined, [], parsed.given, isOn) },
      ...{ featureGates: resolved.gates, markBits: marks, client, bootstrap, credentialPlugins, warnings },
    },
  };
}

/**
 * Whether a problem concerns a field that could not be decoded, or a part or parent of it: it would repeat that
 * problem.
 */
function overlaps(a: FieldPath, b: FieldPath): boolean {
  const length = Math.min(a.length, b.length);
  return a.slice(0, length).every((step, index) => step === b[index]);
}

/** Returns the set gates by name. Each gate is overridden on its own: drop-ins over the file, the flag over both. */
function gateSettings(documents: readonly ConfigDocument[], given: readonly GivenFlag[]) {
  let settings: unknown = {};
  for (const { wire } of documents) {
    if (isJsonObject(wire) && "featureGates" in wire) settings = mergePatch(settings, wire["featureGates"] ?? {});
  }
  const fromFlag = given.find(({ spec }) => spec.field === "featureGates")?.value;
  const all = { ...(isJsonObject(settings) ? settings : {}), ...(isJsonObject(fromFlag) ? fromFlag : {}) };
  const readable = Object.entries(all).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean");
  return Object.fromEntries(readable);
}

function mergedConfiguration(
  base: ConfigDocument | undefined,
  dropIns: readonly ConfigDocument[],
  given: readonly GivenFlag[],
  isOn: GateEnabled,
): KubeletConfiguration {
  let config =
    base === undefined
      ? withLegacyDefaults(defaultConfiguration({}, isOn))
      : defaultConfiguration(withDefaultEviction(base.decoded.config), isOn);
  if (dropIns.length > 0) {
    // Drop-ins change the defaulted configuration in its wire form, so null in one brings a default back.
    let wire: unknown = encodeConfiguration(config);
    for (const dropIn of dropIns) wire = mergePatch(wire, isJsonObject(dropIn.wire) ? dropIn.wire : {});
    const merged: PartialConfiguration = decodeConfiguration(wire).config;
    config = defaultConfiguration(merged, isOn);
  }
  for (const { spec, value } of given) {
    if (spec.field === undefined) continue;
    if (spec.field === "featureGates") {
      config = { ...config, featureGates: { ...config.featureGates, ...(value as Readonly<Record<string, boolean>>) } };
    } else if (spec.field === "seccompDefault") {
      // Upstream keeps this flag beside the field: either of them turns it on.
      config = { ...config, seccompDefault: config.seccompDefault || value === true };
    } else {
      config = withConfigAt(config, spec.field, value);
    }
  }
  return config;
}

/** Returns the line to print for a problem, with the flag, or the file and line, that set the value. */
function placedProblem(
  { path, reason }: ConfigProblem,
  documents: readonly ConfigDocument[],
  given: readonly GivenFlag[],
): PlacedError {
  const text = formatFieldPath(path);
  const flag = given.find(({ spec }) => spec.field !== undefined && isAt(path, spec.field));
  if (
    flag !== undefined &&
    (flag.spec.field !== "featureGates" || Object.hasOwn(Object(flag.value), String(path[1])))
  ) {
    const subject = flag.spec.field === text ? reason : `${text}: ${reason}`;
    return { file: undefined, line: 0, text: `--${flag.spec.name}: ${subject}` };
  }
  // The last file that sets the most specific part of the field wins, as in the merge.
  let place: { readonly file: string; readonly steps: number; readonly line: number } | undefined;
  for (const document of documents) {
    const found = document.locate(path);
    if (found.steps > 0 && found.steps >= (place?.steps ?? 0)) place = { file: document.file, ...found };
  }
  if (place === undefined) return { file: undefined, line: 0, text: `${text}: ${reason}` };
  return { file: place.file, line: place.line, text: `${place.file}:${place.line}: ${text}: ${reason}` };
}

const isAt = (path: FieldPath, field: string): boolean => field.split(".").every((name, index) => path[index] === name);
