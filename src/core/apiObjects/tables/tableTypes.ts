/** Tables that an API server builds for kubectl: meta.k8s.io/v1 Table. */
import type { EpochMs } from "../../ids.ts";
import type { ApiObject } from "../storedObject.ts";

/** A column of kubectl's output; priority 1 means only with `-o wide`. */
export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer";
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** A cell of a row. */
export type Cell = string | number;

/** Columns and cells of one resource's objects. */
export interface TableShape {
  readonly columns: readonly TableColumn[];
  cells(object: ApiObject, now: EpochMs): readonly Cell[];
}

const column = (type: TableColumn["type"], priority: number) => (name: string, format: string) => ({
  name,
  type,
  format,
  description: name,
  priority,
});

/** Returns a text column. */
export const text = (name: string): TableColumn => column("string", 0)(name, name === "Name" ? "name" : "");
/** Returns a text column for `-o wide`. */
export const wideText = (name: string): TableColumn => column("string", 1)(name, "");
/** Returns a number column. */
export const integer = (name: string): TableColumn => column("integer", 0)(name, "");
/** Returns a number column for `-o wide`. */
export const wideInteger = (name: string): TableColumn => column("integer", 1)(name, "");
