/**
 * A strict reader of the Prometheus text format 0.0.4: what the format does not allow, or a scraper could take for
 * something else, is an error that names the line. Stricter than Prometheus: families are whole, series come once.
 */

export interface ParsedSample {
  /** Name and labels, as one text with sorted labels. */
  readonly series: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly time: number | undefined;
}

export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/;

/** Families in their order. */
export function parseExposition(text: string): readonly ParsedFamily[] {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line is not ended");
  const families: { name: string; type: string; samples: ParsedSample[] }[] = [];
  const seen = new Set<string>();
  let helped = "";
  for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${index + 1}: ${why}: ${line}`);
    };
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      if (!NAME.test(name) || rest === "") fail("no help");
      helped = name;
    } else if (keyword === "TYPE") {
      if (name !== helped) fail("TYPE without HELP");
      if (!TYPES.has(rest)) fail("no type");
      if (families.some((family) => family.name === name)) fail("a second family of the name");
      families.push({ name, type: rest, samples: [] });
    } else {
      const sample = sampleOf(line, fail);
      const family = families.at(-1);
      if (family === undefined || !belongs(sample.name, family)) return fail("outside of its family");
      if (seen.has(sample.series)) fail("a second sample of the series");
      seen.add(sample.series);
      family.samples.push(sample);
    }
  }
  for (const family of families) checkFamily(family);
  return families;
}

function sampleOf(line: string, fail: (why: string) => never): ParsedSample {
  const [, name = "", pairs = "", number = "", time] = SAMPLE.exec(line) ?? fail("no sample");
  if (!NUMBER.test(number)) fail("no number");
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < pairs.length) {
    const [, label = "", value = ""] = LABEL.exec(pairs) ?? fail("no label");
    if (label in labels) fail(`a second label ${label}`);
    labels[label] = value;
  }
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const series = `${name}{${sorted.map(([label, value]) => `${label}="${value}"`).join(",")}}`;
  const value = number.endsWith("Inf") ? (number.startsWith("-") ? -Infinity : Infinity) : Number(number);
  return { series, name, labels, value, time: time === undefined ? undefined : Number(time) };
}

const SUFFIXES: ReadonlyMap<string, readonly string[]> = new Map([
  ["histogram", ["_bucket", "_sum", "_count"]],
  ["summary", ["", "_sum", "_count"]],
]);

const belongs = (name: string, family: { readonly name: string; readonly type: string }): boolean =>
  (SUFFIXES.get(family.type) ?? [""]).some((suffix) => name === family.name + suffix);

/** All samples have the same labels; counters do not go below zero; buckets grow up to the count. */
function checkFamily({ name, type, samples }: ParsedFamily): void {
  const fail = (why: string): never => {
    throw new Error(`${name}: ${why}`);
  };
  if (samples.length === 0) fail("no samples");
  const keys = new Set(
    samples.map(({ labels }) =>
      Object.keys(labels)
        .filter((key) => key !== "le")
        .sort()
        .join(","),
    ),
  );
  if (keys.size > 1) fail(`series with different labels: ${[...keys].join(" and ")}`);
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) fail("a counter below zero");
  if (type !== "histogram") return;
  const groups = Map.groupBy(samples, ({ labels: { le: _le, ...labels } }) => JSON.stringify(labels));
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name.endsWith("_bucket"));
    const bounds = buckets.map(({ labels }) => (labels["le"] === "+Inf" ? Infinity : Number(labels["le"])));
    const isGrowing = (numbers: readonly number[], least: number): boolean =>
      numbers.every((value, at) => at === 0 || value - (numbers[at - 1] ?? 0) >= least);
    if (bounds.at(-1) !== Infinity || !isGrowing(bounds, Number.MIN_VALUE)) fail(`bounds ${bounds.join(" ")}`);
    const counts = buckets.map(({ value }) => value);
    const count = group.find((sample) => sample.name.endsWith("_count"))?.value;
    if (!isGrowing(counts, 0) || counts.at(-1) !== count) fail(`counts ${counts.join(" ")} of ${count}`);
  }
}
