/**
 * The text of one YAML file as plain values, with the line of every field. YAML as upstream reads it (1.1: `yes` is
 * true) without sexagesimal numbers and timestamps, which Go's reader does not have; JSON is read as the YAML it is.
 * Refused: duplicate keys, more than one document, empty files. Bounds: MAX_DOCUMENT_CHARS of text, MAX_JSON_DEPTH levels,
 * MAX_ALIASES aliases and the values they expand to, MAX_SYNTAX_ERRORS errors.
 */
import {
  type Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  type Tags,
  type YAMLMap,
} from "yaml";
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from "../core/json.ts";
import { perObject } from "../core/perObject.ts";
import { aliasFault } from "../core/yamlAliases.ts";
import { duplicateKeys } from "../core/yamlKeys.ts";
import type { FieldPath } from "../core/config/configProblem.ts";

/** A file that was read, whether or not it is any good. */
export interface YamlDocument {
  readonly file: string;
  /** The plain values; undefined when the text is not YAML. */
  readonly wire: unknown;
  /** Syntax errors, ready to print. `wire` holds the last of duplicate keys. */
  readonly syntaxErrors: readonly string[];
  /** The line (from 1) of the longest part of `path` the file has, and how many steps that part has. */
  locate(path: FieldPath): { readonly steps: number; readonly line: number };
}

/** Far more than a configuration has: the limit of manifests. */
export const MAX_DOCUMENT_CHARS = 1024 * 1024;
/** Syntax errors after the first ones are mostly their consequences. */
const MAX_SYNTAX_ERRORS = 20;
const TOO_DEEP = `is nested more than ${MAX_JSON_DEPTH} levels deep`;

const withoutUnknownToGo = (tags: Tags): Tags =>
  tags.filter((tag) => {
    if (typeof tag === "string") return true;
    return tag.format !== "TIME" && tag.tag !== "tag:yaml.org,2002:timestamp";
  });

/** JSON may be indented with tabs, YAML may not. */
const spaced = (text: string): string =>
  /^\s*\{/.test(text) ? text.replace(/^[\t ]+/gm, (indent) => " ".repeat(indent.length)) : text;

/** The first pair of each key. */
const pairsOf = perObject(
  (map: YAMLMap): ReadonlyMap<string, Pair> =>
    new Map(map.items.toReversed().flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : []))),
);

function offsetAt(document: Document, path: FieldPath): { readonly steps: number; readonly offset: number } {
  let node: unknown = document.contents;
  let steps = 0;
  let offset = 0;
  for (const step of path) {
    if (!isCollection(node)) break;
    const item: unknown = isMap(node) ? pairsOf(node).get(String(step)) : node.items[Number(step)];
    if (item === undefined) break;
    const at = isPair(item) ? item.key : item;
    offset = (at as { readonly range?: readonly number[] | null }).range?.[0] ?? offset;
    node = isPair(item) ? item.value : item;
    steps += 1;
  }
  return { steps, offset };
}

const refused = (file: string, reason: string): YamlDocument => ({
  file,
  wire: undefined,
  syntaxErrors: [`${file}: ${reason}`],
  locate: () => ({ steps: 0, line: 1 }),
});

/** Reads one file's text; never throws. */
export function readYamlDocument(file: string, text: string): YamlDocument {
  if (text.length > MAX_DOCUMENT_CHARS) return refused(file, `holds more than ${MAX_DOCUMENT_CHARS} characters`);
  // The parser takes long for brackets that it refuses in the end.
  if (isTextTooDeep(text)) return refused(file, TOO_DEEP);
  const lines = new LineCounter();
  const lineOf = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const document = parseDocument(spaced(text), {
    version: "1.1",
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false, // duplicateKeys below: the parser's search takes time by the square of the keys
    customTags: withoutUnknownToGo,
  });
  const locate = (path: FieldPath) => {
    const { steps, offset } = offsetAt(document, path);
    return { steps, line: lineOf(offset) };
  };
  const failed = (...syntaxErrors: readonly string[]): YamlDocument => ({
    file,
    wire: undefined,
    syntaxErrors,
    locate,
  });
  if (document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) return failed(`${file}: ${TOO_DEEP}`);
  const syntaxErrors = document.errors
    .slice(0, MAX_SYNTAX_ERRORS)
    .map(({ code, message, pos: [start] }) => `${file}:${lineOf(start)}: ${reasonOf(code, message)}`);
  if (syntaxErrors.length > 0) return failed(...syntaxErrors);
  if (document.contents === null) return failed(`${file}: the file is empty`);
  try {
    const fault = aliasFault(document.contents);
    if (fault !== undefined) return failed(`${file}:${lineOf(fault.offset ?? 0)}: ${fault.reason}`);
    // aliasFault is the bound; the parser counts only some of what aliases stand for.
    const wire: unknown = document.toJS({ maxAliasCount: -1 });
    if (isTooDeep(wire)) return failed(`${file}: ${TOO_DEEP}`);
    const duplicates = duplicateKeys(document.contents).map(
      ({ name, offset = 0 }) => `${file}:${lineOf(offset)}: duplicate key ${shownKey(name)}`,
    );
    return { file, wire, syntaxErrors: duplicates, locate };
  } catch (error) {
    return failed(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const MAX_SHOWN_KEY = 60;
const shownKey = (name: string): string => JSON.stringify(name.slice(0, MAX_SHOWN_KEY));

function reasonOf(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "must hold one document only";
  return `not valid YAML: ${message}`;
}
