/** Tables as an API server makes them for kubectl: meta.k8s.io/v1 Table. */
import type { EpochMs } from "../../ids.ts";
import type { ApiObject } from "../storedObject.ts";

/** A column as kubectl shows it; those of priority 1 with `-o wide` alone. */
export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer";
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** A cell of a row. */
export type Cell = string | number;

/** How objects of one resource are shown. */
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

/** A column of text. */
export const text = (name: string): TableColumn => column("string", 0)(name, name === "Name" ? "name" : "");
/** A column of text for `-o wide`. */
export const wideText = (name: string): TableColumn => column("string", 1)(name, "");
/** A column of numbers. */
export const integer = (name: string): TableColumn => column("integer", 0)(name, "");
/** A column of numbers for `-o wide`. */
export const wideInteger = (name: string): TableColumn => column("integer", 1)(name, "");
