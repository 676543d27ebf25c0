/** One configuration file: text to plain values and what they mean. */
import { formatFieldPath } from "../core/config/configProblem.ts";
import {
  type DecodedConfiguration,
  decodeConfiguration,
  type DocumentRole,
} from "../core/config/decodeConfiguration.ts";
import { readYamlDocument, type YamlDocument } from "./yamlDocument.ts";

/** A file that was read, whether or not it is any good. */
export interface ConfigDocument extends YamlDocument {
  readonly decoded: DecodedConfiguration;
}

const NOTHING: DecodedConfiguration = { config: {}, problems: [] };

/** Reads one file's text; never throws. */
export function readConfigDocument(file: string, text: string, role: DocumentRole): ConfigDocument {
  const document = readYamlDocument(file, text);
  if (document.syntaxErrors.length > 0) return { ...document, decoded: NOTHING };
  try {
    return { ...document, decoded: decodeConfiguration(document.wire, role) };
  } catch (error) {
    const reason = `${file}: ${error instanceof Error ? error.message : String(error)}`;
    return { ...document, wire: undefined, decoded: NOTHING, syntaxErrors: [reason] };
  }
}

/** The faults of a file, one line each: `file:12: path: reason`. */
export function documentErrors(document: ConfigDocument): readonly string[] {
  const faults = document.decoded.problems.map(({ path, reason }) => {
    const where = `${document.file}:${document.locate(path).line}`;
    return path.length === 0 ? `${where}: ${reason}` : `${where}: ${formatFieldPath(path)}: ${reason}`;
  });
  return [...document.syntaxErrors, ...faults];
}
