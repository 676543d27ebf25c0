/** Reads the fields of a kubeconfig and collects every problem with its field path. */
import { decodeBase64 } from "../base64.ts";
import { type ConfigProblem, describeValue, type FieldPath } from "../config/configProblem.ts";
import type { TextSource } from "./clientConfig.ts";
import { isJsonObject } from "../json.ts";

/** A text in the kubeconfig or in a file it names, and the field of either. */
export interface FoundText {
  readonly source: TextSource;
  readonly path: FieldPath;
}

/** Makes a path of a kubeconfig absolute. */
export type ResolvePath = (path: string) => string;

/** Reads the fields of one map of the document and records their problems. */
export class FieldReader {
  readonly path: FieldPath;
  readonly map: Readonly<Record<string, unknown>>;
  readonly problems: ConfigProblem[];

  constructor(value: unknown, path: FieldPath, problems: ConfigProblem[]) {
    this.path = path;
    this.problems = problems;
    this.map = isJsonObject(value) ? value : {};
    if (value !== undefined && value !== null && !isJsonObject(value))
      this.#report(path, `must be a map, got ${describeValue(value)}`);
  }

  #report(path: FieldPath, reason: string): void {
    this.problems.push({ path, reason });
  }

  /** Records a problem of a field, or of the map itself. */
  fault(field: string | undefined, reason: string): void {
    this.#report(field === undefined ? this.path : [...this.path, field], reason);
  }

  at(field: string): FieldPath {
    return [...this.path, field];
  }

  /** Returns a string field; empty when absent. */
  text(field: string): string {
    const value = this.map[field] ?? "";
    if (typeof value === "string") return value;
    this.fault(field, `must be a string, got ${describeValue(value)}`);
    return "";
  }

  flag(field: string): boolean {
    const value = this.map[field] ?? false;
    if (typeof value === "boolean") return value;
    this.fault(field, `must be true or false, got ${describeValue(value)}`);
    return false;
  }

  /** Returns a reader for each element of a list of maps. */
  list(field: string): readonly FieldReader[] {
    const value = this.map[field] ?? [];
    if (Array.isArray(value))
      return value.map((each, index) => new FieldReader(each, [...this.at(field), index], this.problems));
    this.fault(field, `must be a list, got ${describeValue(value)}`);
    return [];
  }

  /** Returns a reader for a field that is a map. */
  member(field: string): FieldReader {
    return new FieldReader(this.map[field], this.at(field), this.problems);
  }

  /** Returns a text from FIELD-data (base64), or the file that FIELD names. */
  found(field: string, resolve: ResolvePath): FoundText | undefined {
    const [file, data] = [this.text(field), this.text(`${field}-data`)];
    if (file !== "" && data !== "") this.fault(field, `cannot be set together with ${field}-data`);
    if (data !== "") {
      const path = this.at(`${field}-data`);
      try {
        return { source: { text: new TextDecoder().decode(decodeBase64(data.replace(/\s/g, ""))) }, path };
      } catch {
        this.fault(`${field}-data`, "must be base64");
      }
    }
    return file === "" ? undefined : { source: { file: resolve(file) }, path: this.at(field) };
  }
}
