/**
 * Writes the tables of docs/operations.md from the tables the program itself reads: metrics, configuration fields and
 * rxlet's own flags. A table stands between `<!-- NAME -->` and `<!-- end -->`; everything else is written by hand.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SUB_COMMANDS } from "../src/cli/commandTable.ts";
import type { FlagSpec } from "../src/cli/flagSpec.ts";
import { GATE_EFFECTS } from "../src/cli/gateEffects.ts";
import { FEATURE_GATES } from "../src/cli/gateTable.ts";
import { OWN_FLAGS } from "../src/cli/ownFlags.ts";
import { COPY_FLAGS } from "../src/cli/copyFlags.ts";
import { APPLY_FLAGS, DELETE_FLAGS } from "../src/cli/manifestFlags.ts";
import { EXEC_FLAGS, GET_FLAGS, LOGS_FLAGS, PORT_FORWARD_FLAGS } from "../src/cli/podCommandFlags.ts";
import { RETRY_FLAGS } from "../src/cli/retryFlags.ts";
import { EXPLAIN_FLAGS } from "../src/cli/showFlags.ts";
import { TARGET_FLAGS } from "../src/cli/targetFlags.ts";
import { DOCKERSHIM_FLAGS } from "../src/cli/dockershimFlags.ts";
import { DEV_FLAGS, RUNTIME_FLAGS } from "../src/cli/subCommands.ts";
import type { ConfigField, FieldDefault } from "../src/core/config/configField.ts";
import { CONFIG_FIELDS } from "../src/core/config/configFields.ts";
import { formatDuration } from "../src/core/config/duration.ts";
import { VERBOSITY } from "../src/core/telemetry/verbosity.ts";
import { type MetricRow, metricTable } from "../src/core/telemetry/metricTable.ts";
import { ABSENT_EVENTS } from "./upstreamEvents.ts";

const ROOT = new URL("../", import.meta.url);
export const OPERATIONS = new URL("docs/operations.md", ROOT);

const cell = (text: string): string => text.replaceAll("|", "\\|");
/** Formats non-empty text as Markdown code. */
export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);
/** A Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");

/** All code that may feed a metric: everything but the table of metrics itself. */
function feedingCode(): string {
  const files = globSync("src/**/*.ts", { cwd: fileURLToPath(ROOT) }).filter((file) => !file.includes("telemetry/"));
  return files.map((file) => readFileSync(new URL(file, ROOT), "utf8")).join("\n");
}

/** Tells whether any code feeds a metric. */
export function fedMetrics(): (name: string) => boolean {
  const source = feedingCode();
  return (name) => new RegExp(`\\b${name}\\b`).test(source);
}

function metrics(): string {
  const isFed = fedMetrics();
  const rows = Object.entries<MetricRow>(metricTable)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { type, labels, help }]) => [
      code(name),
      type,
      labels.map(code).join(" "),
      isFed(name) ? help : `${help} (not fed yet)`,
    ]);
  return table(["metric", "type", "labels", "meaning"], rows);
}

function defaultText(type: ConfigField["type"], value: FieldDefault | undefined): string {
  if (value === undefined) return "";
  if (type === "duration") return formatDuration(Number(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A field with a reason is in the table of settings without effect. */
function effectText({ effective, idle }: ConfigField): string {
  if (idle !== undefined) return "no";
  if (typeof effective === "boolean") return effective ? "yes" : "not yet";
  return `only ${effective.map(code).join(", ")}`;
}

function fields(): string {
  const rows = Object.entries<ConfigField>(CONFIG_FIELDS)
    .filter(([, { type }]) => type !== "object")
    .map(([path, row]) => [code(path), row.type, code(defaultText(row.type, row.default)), effectText(row), row.about]);
  return table(["field", "type", "default", "in effect", "meaning"], rows);
}

const flags = (specs: readonly FlagSpec[]): string =>
  table(
    ["flag", "default", "meaning"],
    specs.map(({ name, default: value, about }) => [code(`--${name}`), code(value), about]),
  );

const idleSettings = (): string =>
  table(
    ["setting", "why it has no effect"],
    [
      ...OWN_FLAGS.flatMap(({ name, idle }) => (idle === undefined ? [] : [[code(`--${name}`), idle]])),
      ...Object.entries<ConfigField>(CONFIG_FIELDS).flatMap(([path, { flag, idle }]) =>
        idle === undefined ? [] : [[[path, ...(flag === undefined ? [] : [`--${flag}`])].map(code).join(", "), idle]],
      ),
    ],
  );

/** Flags that say which kubelet to ask are left out. */
const beyondTarget = (specs: readonly FlagSpec[]): readonly FlagSpec[] =>
  specs.filter((spec) => !TARGET_FLAGS.includes(spec));

const commands = (): string =>
  table(
    ["command", "meaning"],
    SUB_COMMANDS.map(({ name, args, about }) => [code(`rxlet ${name} ${args}`.trimEnd()), about]),
  );

function effectOf(name: string): string {
  const effect = GATE_EFFECTS.get(name);
  switch (effect?.kind) {
    case "heeded":
      return "heeded";
    case "fixed":
      return `always ${effect.value ? "on" : "off"}: ${effect.why}`;
    default:
      return "";
  }
}

/** Gates a kubelet reads, one per row. */
function gates(): string {
  const rows = [...FEATURE_GATES]
    .filter(([name]) => GATE_EFFECTS.get(name)?.kind !== "foreign")
    .map(([name, gate]) => [code(name), gate.default ? "on" : "off", gate.stage.toLowerCase(), effectOf(name)]);
  return table(["gate", "default", "stage", "in rxlet"], rows);
}

const absentEvents = (): string =>
  table(
    ["reason", "why rxlet does not record it"],
    [...ABSENT_EVENTS].map(([reason, why]) => [code(reason), why]),
  );

const PLACE = /\.(debug|verbose)\(\s*"(\w+)",\s*(?:VERBOSITY\.(\w+))?/g;

/** Source files that write lines of a verbosity, with these verbosities. */
export function logFiles(): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [, call, file = "", name] of feedingCode().matchAll(PLACE)) {
    const level = call === "debug" ? VERBOSITY.debug : VERBOSITY[name as keyof typeof VERBOSITY];
    found.set(
      file,
      [...new Set([...(found.get(file) ?? []), level])].sort((a, b) => a - b),
    );
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const logFileTable = (): string =>
  table(
    ["file", "levels of its lines"],
    [...logFiles()].map(([file, levels]) => [code(file), levels.join(", ")]),
  );

const TABLES: ReadonlyMap<string, () => string> = new Map([
  ["metrics", metrics],
  ["fields", fields],
  ["gates", gates],
  ["commands", commands],
  ["absent events", absentEvents],
  ["log files", logFileTable],
  ["own flags", () => flags(OWN_FLAGS.filter(({ group }) => group === "rxlet"))],
  ["idle settings", idleSettings],
  ["dev flags", () => flags(DEV_FLAGS)],
  ["explain flags", () => flags(EXPLAIN_FLAGS)],
  ["retry flags", () => flags(RETRY_FLAGS)],
  ["get flags", () => flags(beyondTarget(GET_FLAGS))],
  ["logs flags", () => flags(beyondTarget(LOGS_FLAGS))],
  ["exec flags", () => flags(beyondTarget(EXEC_FLAGS))],
  ["port-forward flags", () => flags(beyondTarget(PORT_FORWARD_FLAGS))],
  ["cp flags", () => flags(beyondTarget(COPY_FLAGS))],
  ["apply flags", () => flags(APPLY_FLAGS)],
  ["delete flags", () => flags(DELETE_FLAGS)],
  ["runtime flags", () => flags(RUNTIME_FLAGS)],
  ["dockershim flags", () => flags(DOCKERSHIM_FLAGS)],
]);

/** The same document however the formatter pads its tables. */
export const withoutPadding = (document: string): string =>
  document.replace(/^\|.*$/gm, (row) => row.replace(/ +(?=\|)/g, " ").replace(/-{3,}/g, "---"));

/** The document with every table as the program has it now. Throws when a table has no place in it. */
export function withCurrentTables(document: string): string {
  let text = document;
  for (const [name, make] of TABLES) {
    const start = text.indexOf(`<!-- ${name} -->\n`);
    const end = text.indexOf("<!-- end -->", start);
    if (start < 0 || end < 0) throw new Error(`docs/operations.md has no place for the table "${name}"`);
    text = `${text.slice(0, start)}<!-- ${name} -->\n\n${make()}\n\n${text.slice(end)}`;
  }
  return text;
}

if (import.meta.main) writeFileSync(OPERATIONS, withCurrentTables(readFileSync(OPERATIONS, "utf8")));
