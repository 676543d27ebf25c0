/** Objects as a Table, and the request for one. Upstream: ConvertToTable and negotiation of k8s.io/apiserver. */
import type { ApiResourceName } from "../../api/apiResources.ts";
import type { EpochMs } from "../../ids.ts";
import type { ApiObject } from "../storedObject.ts";
import { tableShape } from "./tableShapes.ts";
import type { Cell, TableColumn } from "./tableTypes.ts";

/** The part of its object that a row contains. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** The requested format of a table. */
export interface TableWish {
  readonly apiVersion: "meta.k8s.io/v1" | "meta.k8s.io/v1beta1";
  readonly include: IncludeObject;
}

/** The wire form of a Table. */
export interface Table {
  readonly kind: "Table";
  readonly apiVersion: TableWish["apiVersion"];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly columnDefinitions: readonly TableColumn[];
  readonly rows: readonly { readonly cells: readonly Cell[]; readonly object?: unknown }[];
}

/** Returns the table format that an Accept header prefers to plain JSON; undefined when it requests none. */
export function tableWish(accept: string | undefined, includeObject: string | null): TableWish | undefined {
  for (const each of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = each.split(";").map((part) => part.trim());
    if (type !== "application/json") continue;
    const values = new Map(parameters.map((part) => part.split("=", 2) as [string, string]));
    if (values.get("as") === undefined) return undefined;
    const version = values.get("v");
    if (values.get("as") !== "Table" || values.get("g") !== "meta.k8s.io") continue;
    if (version !== "v1" && version !== "v1beta1") continue;
    const include = includeObject === "None" || includeObject === "Object" ? includeObject : "Metadata";
    return { apiVersion: `meta.k8s.io/${version}`, include };
  }
  return undefined;
}

/** Returns the table of these objects at `now`; `metadata` is that of their list. */
export function tableOf(
  resource: ApiResourceName,
  objects: readonly ApiObject[],
  metadata: Readonly<Record<string, unknown>>,
  { apiVersion, include }: TableWish,
  now: EpochMs,
): Table {
  const { columns, cells } = tableShape(resource);
  return {
    kind: "Table",
    apiVersion,
    metadata,
    columnDefinitions: columns,
    rows: objects.map((object) => ({
      cells: cells(object, now),
      ...(include === "None" ? {} : { object: include === "Object" ? object : partial(object, apiVersion) }),
    })),
  };
}

const partial = ({ metadata }: ApiObject, apiVersion: TableWish["apiVersion"]) => ({
  kind: "PartialObjectMetadata",
  apiVersion,
  metadata,
});
