/**
 * Parses manifest bytes into plain documents with line numbers: JSON, or YAML as upstream reads it (1.1: `yes` is true,
 * 0644 is octal, `<<` merges; but no dates and no base-60 numbers). Line numbers are computed on demand.
 * Differs from upstream: duplicate keys in YAML are rejected; upstream uses the last one.
 * Bounds: MAX_DOCUMENTS documents, the aliases of yamlAliases.ts, MAX_JSON_DEPTH levels; the caller bounds the size.
 */
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, type Tags } from "yaml";
import { isTooDeep, MAX_JSON_DEPTH } from "../core/json.ts";
import { jsonFields } from "../core/jsonFields.ts";
import { aliasFault } from "../core/yamlAliases.ts";
import { duplicateKeys } from "../core/yamlKeys.ts";
import type { ManifestDocument, ManifestText, TextFault } from "../core/pod/manifest/readManifest.ts";

const MAX_DOCUMENTS = 1000;
const TOO_DEEP = `it is nested more than ${MAX_JSON_DEPTH} levels deep`;
/** Syntax errors after the first ones are mostly their consequences. */
const MAX_FAULTS_PER_DOCUMENT = 3;
const MAX_SHOWN_KEY = 60;
const EMPTY = "is empty: it defines no pod";
const STRUCTURED_TAGS = /:(timestamp|binary|omap|pairs|set)$/;

/** Parses a manifest. Never throws: unreadable content becomes a fault. */
export function parseManifest(bytes: Uint8Array): ManifestText {
  if (bytes.includes(0)) return unreadable("is a binary file: it holds a NUL character");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return unreadable("is not UTF-8 text", lineOfInvalidByte(bytes));
  }
  if (text.trim() === "") return { documents: [], faults: [{ severity: "warning", line: undefined, reason: EMPTY }] };
  return parseJson(text) ?? parseYaml(text);
}

const unreadable = (reason: string, line?: number): ManifestText => ({ documents: [], faults: [{ line, reason }] });

/** Returns the line of the first byte that is not UTF-8, or of a replacement character before it. */
function lineOfInvalidByte(bytes: Uint8Array): number {
  const text = new TextDecoder("utf-8").decode(bytes);
  return text.slice(0, text.indexOf("\ufffd")).split("\n").length;
}

/** Parses JSON with the faster JSON parser; returns undefined when the text is not JSON. */
function parseJson(text: string): ManifestText | undefined {
  if (!looksLikeJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return unreadable(`cannot be read: ${TOO_DEEP}`);
    const lineOf = lineFinder(() => linesOfJson(text, () => true));
    // The lines of names are read with every manifest, so a single pass finds them all.
    const lineAt = lineFinder(() => linesOfJson(text, isItemName));
    return { documents: [{ value, lineOf, lineAt }], faults: [] };
  } catch {
    return undefined;
  }
}

const isItemName = (steps: readonly string[]): boolean => steps.at(-2) === "metadata" && steps.at(-1) === "name";

const looksLikeJson = (text: string): boolean => /^\s*\{/.test(text);

interface Parsed {
  readonly documents: readonly Document[];
  readonly counter: LineCounter;
}

/** Tags as upstream knows them: without dates, sets and base-60 numbers. */
function upstreamTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || !(STRUCTURED_TAGS.test(tag.tag) || ("format" in tag && tag.format === "TIME")),
  );
}

function parseDocuments(text: string): Parsed {
  const counter = new LineCounter();
  const parsed = parseAllDocuments(text, {
    version: "1.1",
    customTags: upstreamTags,
    uniqueKeys: false, // ours below: the parser's takes time by the square of the keys
    strict: true,
    prettyErrors: false,
    logLevel: "silent",
    lineCounter: counter,
  });
  return { documents: Array.isArray(parsed) ? parsed : [], counter };
}

function parseYaml(text: string): ManifestText {
  let parsed: Parsed;
  try {
    parsed = parseDocuments(text);
  } catch (thrown) {
    return unreadable(`cannot be parsed: ${thrown instanceof RangeError ? "it is nested too deeply" : String(thrown)}`);
  }
  const isJson = looksLikeJson(text);
  const documents: ManifestDocument[] = [];
  const faults: TextFault[] = [];
  for (const document of parsed.documents.slice(0, MAX_DOCUMENTS)) {
    const { errors } = document;
    // The other errors of a text that is indented with tabs follow from them, and may stand before them.
    const tab = isJson ? undefined : errors.find(({ code }) => code === "TAB_AS_INDENT");
    const shown = tab === undefined ? errors.slice(0, isJson ? 1 : MAX_FAULTS_PER_DOCUMENT) : [tab];
    for (const { code, message, pos } of shown) {
      const line = parsed.counter.linePos(pos[0]).line;
      if (code === "RESOURCE_EXHAUSTION") faults.push({ line, reason: "cannot be parsed: it is nested too deeply" });
      else if (isJson) faults.push(jsonFault(text) ?? { line, reason: `is not valid JSON: ${message}` });
      else faults.push({ line, reason: `is not valid YAML: ${withHint(message)}` });
    }
    if (errors.length > 0) continue;
    const offsetFault = ({ reason, offset }: OffsetFault): TextFault => ({
      line: lineAtOffset(parsed, offset),
      reason,
    });
    const alias = aliasFault(document.contents);
    if (alias !== undefined) {
      faults.push(offsetFault(alias));
      continue;
    }
    try {
      // aliasFault is the bound; the parser counts only some of what aliases stand for.
      const value: unknown = document.toJS({ maxAliasCount: -1 });
      if (isTooDeep(value)) throw new Error(TOO_DEEP);
      const lineOf = lineFinder(() => linesOfYaml(document, parsed.counter));
      const lineAt = (path: string): number | undefined => lineIn(document, parsed.counter, stepsOf(path));
      documents.push({ value, lineOf, lineAt, faults: duplicatesIn(document).map(offsetFault) });
    } catch (thrown) {
      const reason = thrown instanceof RangeError ? "it is nested too deeply" : String((thrown as Error).message);
      faults.push(offsetFault({ reason: `cannot be read: ${reason}`, offset: document.range?.[0] }));
    }
  }
  if (parsed.documents.length > MAX_DOCUMENTS) {
    faults.push({ line: undefined, reason: `holds more than ${MAX_DOCUMENTS} documents; the rest is not read` });
  }
  return { documents, faults };
}

/** Returns the fault of a text that is no JSON in the words of the JSON parser, which the YAML parser lacks. */
function jsonFault(text: string): TextFault | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    const { message } = thrown as SyntaxError;
    const { length } = text.trimEnd();
    const found = /^(.+?)(?: in JSON)? at position (\d+) \(line (\d+) column \d+\)$/.exec(message);
    if (message.startsWith("Unexpected end") || Number(found?.[2] ?? 0) >= length) {
      return { line: text.slice(0, length).split("\n").length, reason: "is not valid JSON: the text ends too early" };
    }
    return found === null ? undefined : { line: Number(found[3]), reason: `is not valid JSON: ${found[1]}` };
  }
}

/** Adds a hint to the error that a wrong indentation, the most frequent mistake, causes on the line after it. */
const withHint = (message: string): string =>
  message === "Sequence item without - indicator" ? `${message}; check the indentation of the line` : message;

interface OffsetFault {
  readonly reason: string;
  readonly offset: number | undefined;
}

const lineAtOffset = ({ counter }: Parsed, offset: number | undefined): number | undefined =>
  offset === undefined ? undefined : counter.linePos(offset).line;

/** Returns the keys that appear more than once in one map. */
const duplicatesIn = ({ contents }: Document): readonly OffsetFault[] =>
  duplicateKeys(contents).map(({ name, offset }) => ({
    reason: `is not valid YAML: duplicate key ${JSON.stringify(name.slice(0, MAX_SHOWN_KEY))}`,
    offset,
  }));

/** Lines by path. NUL joins the steps of a path, because no manifest contains NUL. */
type Lines = ReadonlyMap<string, number>;

const STEP = "\0";
/** Maximum depth of a path in the table of lines; no field of a pod is deeper. */
const MAX_LINE_DEPTH = 20;

/** Returns the steps of a path such as `spec.containers[0].name`; text in brackets is one step, including dots. */
function stepsOf(path: string): readonly string[] {
  const steps: string[] = [];
  for (const [index, part] of path.split("[").entries()) {
    const closing = index === 0 ? -1 : part.indexOf("]");
    if (index > 0) steps.push(closing === -1 ? part : part.slice(0, closing));
    if (index === 0 || closing !== -1) steps.push(...part.slice(closing + 1).split("."));
  }
  return steps.filter((step) => step !== "");
}

/** Returns a function from path to line; the first call builds its table. */
function lineFinder(read: () => Lines) {
  let lines: Lines | undefined;
  return (path: string): number | undefined => {
    lines ??= read();
    const steps = stepsOf(path);
    for (let count = steps.length; count >= 0; count -= 1) {
      const line = lines.get(steps.slice(0, count).join(STEP));
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

/** Returns the line of one field, or of its closest parent, without those of all others. */
function lineIn({ contents }: Document, counter: LineCounter, steps: readonly string[]): number | undefined {
  let node: unknown = contents;
  let offset = contents?.range?.[0];
  for (const step of steps) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === step) : undefined;
    const item: unknown = isSeq(node) ? node.items[Number(step)] : undefined;
    const at = isScalar(pair?.key) ? pair.key.range?.[0] : isNode(item) ? item.range?.[0] : undefined;
    if (at === undefined) break;
    offset = at;
    node = pair === undefined ? item : pair.value;
  }
  return offset === undefined ? undefined : counter.linePos(offset).line;
}

function linesOfYaml({ contents }: Document, counter: LineCounter): Lines {
  const lines = new Map<string, number>();
  const walk = (node: unknown, path: readonly string[], keyAt?: number): void => {
    const offset = keyAt ?? (isNode(node) ? node.range?.[0] : undefined);
    if (offset !== undefined) lines.set(path.join(STEP), counter.linePos(offset).line);
    if (path.length >= MAX_LINE_DEPTH) return;
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        if (isScalar(key)) walk(value, [...path, String(key.value)], key.range?.[0]);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, [...path, String(index)]);
    }
  };
  walk(contents, []);
  return lines;
}

/** Returns the lines of the fields that are wanted. */
function linesOfJson(text: string, isWanted: (steps: readonly string[]) => boolean): Lines {
  const lines = new Map<string, number>();
  for (const { steps, line } of jsonFields(text)) {
    if (steps.length <= MAX_LINE_DEPTH && isWanted(steps)) lines.set(steps.join(STEP), line);
  }
  return lines;
}
