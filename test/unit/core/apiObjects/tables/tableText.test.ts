import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../../src/core/ids.ts";
import { untyped } from "../../../../../src/core/apiObjects/storedObject.ts";
import { tableOf } from "../../../../../src/core/apiObjects/tables/table.ts";
import { tableText } from "../../../../../src/core/apiObjects/tables/tableText.ts";
import { podOf } from "../../../../support/pods.ts";

const tableFor = (...names: readonly string[]) =>
  tableOf(
    "pods",
    names.map((name) => untyped({ ...podOf({ name }), status: { phase: "Running" } })),
    {},
    { apiVersion: "meta.k8s.io/v1", include: "Metadata" },
    epochMs(0),
  );
const NARROW = { wide: false, namespaces: false };

describe("tableText", () => {
  it("prints titles and rows in columns", () => {
    expect(tableText(tableFor("web", "a-longer-name"), NARROW).lines).toEqual([
      "NAME            READY   STATUS    RESTARTS   AGE",
      "web             0/1     Running   0          <unknown>",
      "a-longer-name   0/1     Running   0          <unknown>",
    ]);
  });

  it("prints more columns when requested", () => {
    const [title = "", row = ""] = tableText(tableFor("web"), { wide: true, namespaces: true }).lines;
    expect(title.split(/ {3,}/)).toEqual([
      ...["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"],
      ...["IP", "NODE", "NOMINATED NODE", "READINESS GATES"],
    ]);
    expect(row).toMatch(/^demo +web +0\/1/);
  });

  it("keeps the column widths of earlier lines", () => {
    const { widths } = tableText(tableFor("a-longer-name"), NARROW);
    expect(tableText(tableFor("web"), NARROW, widths).lines[1]).toBe(
      "web             0/1     Running   0          <unknown>",
    );
  });

  it("removes control characters from cells", () => {
    const table = tableFor("web");
    const evil = {
      ...table,
      rows: table.rows.map((row) => ({ ...row, cells: ["\u001b[2Jx\n", ...row.cells.slice(1)] })),
    };
    expect(tableText(evil, NARROW).lines[1]).toMatch(/^\?\[2Jx\? /);
  });
});
