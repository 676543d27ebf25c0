/** Reads a configuration file: from text to plain values, then to decoded fields with their problems. */
import { formatFieldPath } from "../core/config/configProblem.ts";
import {
  type DecodedConfiguration,
  decodeConfiguration,
  type DocumentRole,
} from "../core/config/decodeConfiguration.ts";
import { readYamlDocument, type YamlDocument } from "./yamlDocument.ts";

/** A file that was read, valid or not. */
export interface ConfigDocument extends YamlDocument {
  readonly decoded: DecodedConfiguration;
}

const NOTHING: DecodedConfiguration = { config: {}, problems: [] };

/** Reads one file's text; never throws. */
export function readConfigDocument(file: string, text: string, role: DocumentRole): ConfigDocument {
  const document = readYamlDocument(file, text);
  if (document.wire === undefined) return { ...document, decoded: NOTHING };
  try {
    return { ...document, decoded: decodeConfiguration(document.wire, role) };
  } catch (error) {
    const reason = `${file}: ${error instanceof Error ? error.message : String(error)}`;
    return { ...document, wire: undefined, decoded: NOTHING, syntaxErrors: [reason] };
  }
}

/** An error about a configuration, and its place in the file. */
export interface PlacedError {
  /** The file; undefined for a flag or a default. */
  readonly file: string | undefined;
  /** Zero for the file as a whole. */
  readonly line: number;
  readonly text: string;
}

/** Returns the errors of a file: `file:12: path: reason`. */
export function documentErrors(document: ConfigDocument): readonly PlacedError[] {
  const { file } = document;
  const faults = document.decoded.problems.map(({ path, reason }) => {
    const { line } = document.locate(path);
    const subject = path.length === 0 ? reason : `${formatFieldPath(path)}: ${reason}`;
    return { file, line, text: `${file}:${line}: ${subject}` };
  });
  return [...document.syntaxErrors.map((text) => ({ file, line: 0, text })), ...faults];
}

/** Returns the lines to print: flags first, then the files in the order of `files`, each sorted by line. */
export function errorsInOrder(errors: readonly PlacedError[], files: readonly string[]): readonly string[] {
  const rank = ({ file }: PlacedError): number => (file === undefined ? -1 : files.indexOf(file));
  return errors.toSorted((a, b) => rank(a) - rank(b) || a.line - b.line).map(({ text }) => text);
}
