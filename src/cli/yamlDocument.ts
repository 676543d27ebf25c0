/**
 * The text of one YAML file as plain values, with the line of every field. YAML as upstream reads it (1.1: `yes` is
 * true) without sexagesimal numbers and timestamps, which Go's reader does not have; JSON is read as the YAML it is.
 * Refused: duplicate keys, more than one document, empty files, aliases that multiply beyond 100.
 */
import { type Document, isCollection, isMap, isPair, isScalar, LineCounter, parseDocument, type Tags } from "yaml";
import { aliasesTooMuch, MAX_ALIASED_NODES } from "../core/yamlAliases.ts";
import type { FieldPath } from "../core/config/configProblem.ts";

/** A file that was read, whether or not it is any good. */
export interface YamlDocument {
  readonly file: string;
  /** The plain values; undefined when the text is not YAML. */
  readonly wire: unknown;
  /** What is wrong with the text itself, ready to print. Of duplicate keys the last one is in `wire`. */
  readonly syntaxErrors: readonly string[];
  /** The line (from 1) of the longest part of `path` the file has, and how many steps that part has. */
  locate(path: FieldPath): { readonly steps: number; readonly line: number };
}

const withoutGoStrangers = (tags: Tags): Tags =>
  tags.filter((tag) => {
    if (typeof tag === "string") return true;
    return tag.format !== "TIME" && tag.tag !== "tag:yaml.org,2002:timestamp";
  });

/** JSON may be indented with tabs, YAML may not. */
const spaced = (text: string): string =>
  /^\s*\{/.test(text) ? text.replace(/^[\t ]+/gm, (indent) => " ".repeat(indent.length)) : text;

function offsetAt(document: Document, path: FieldPath): { readonly steps: number; readonly offset: number } {
  let node: unknown = document.contents;
  let steps = 0;
  let offset = 0;
  for (const step of path) {
    if (!isCollection(node)) break;
    const item: unknown = isMap(node)
      ? node.items.find((pair) => isPair(pair) && isScalar(pair.key) && String(pair.key.value) === String(step))
      : node.items[Number(step)];
    if (item === undefined) break;
    const at = isPair(item) ? item.key : item;
    offset = (at as { readonly range?: readonly number[] | null }).range?.[0] ?? offset;
    node = isPair(item) ? item.value : item;
    steps += 1;
  }
  return { steps, offset };
}

/** Reads one file's text; never throws. */
export function readYamlDocument(file: string, text: string): YamlDocument {
  const lines = new LineCounter();
  const lineOf = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const document = parseDocument(spaced(text), {
    version: "1.1",
    lineCounter: lines,
    prettyErrors: false,
    customTags: withoutGoStrangers,
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
  const syntaxErrors = document.errors.map(({ code, message, pos: [start] }) => {
    const reason = code === DUPLICATE_KEY ? `duplicate key ${keyAt(text, start)}` : reasonOf(code, message);
    return `${file}:${lineOf(start)}: ${reason}`;
  });
  if (document.errors.some(({ code }) => code !== DUPLICATE_KEY)) return failed(...syntaxErrors);
  if (document.contents === null) return failed(`${file}: the file is empty`);
  try {
    if (aliasesTooMuch(document.contents)) {
      return failed(`${file}: its aliases stand for more than ${MAX_ALIASED_NODES} values`);
    }
    return { file, wire: document.toJS() as unknown, syntaxErrors, locate };
  } catch (error) {
    return failed(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const DUPLICATE_KEY = "DUPLICATE_KEY";
const MAX_SHOWN_KEY = 60;

/** The key that begins at an offset, in quotes. */
function keyAt(text: string, offset: number): string {
  const [key = ""] = /^["']?[^:"'\n]*/.exec(text.slice(offset, offset + MAX_SHOWN_KEY)) ?? [];
  return JSON.stringify(key.replace(/^["']/, "").trim());
}

function reasonOf(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "must hold one document only";
  return `not valid YAML: ${message}`;
}
