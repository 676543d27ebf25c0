import { describe, expect, it } from "vitest";
import { journalArguments, readNodeLogQuery, serviceLogFiles } from "../../../../src/core/server/nodeLogQuery.ts";

const read = (query: string, path = "") => readNodeLogQuery(new URLSearchParams(query), path);
const faultOf = (query: string, path = ""): string => {
  const found = read(query, path);
  return found.kind === "fault" ? `${found.fault.status} ${found.fault.message}` : found.kind;
};

describe("a query of node logs", () => {
  it.each(["", "other=1", "tailLines="])("%j is not a query", (query) => {
    expect(read(query, "any/path")).toEqual({ kind: "none" });
  });

  it.each([
    ["query=/syslog", { kind: "file", path: "/syslog" }],
    ["query=a%5Cb.log", { kind: "file", path: "a/b.log" }],
  ])("%s names a file", (query, wanted) => {
    expect(read(query)).toEqual({ kind: "query", query: wanted });
  });

  it.each([
    `query=${"a".repeat(256)}`,
    "query=a&query=b&query=c&query=d",
    "query=a&boot=0",
    "query=a&tailLines=0",
    "query=a&tailLines=100000",
    "query=a&sinceTime=2026-01-01T00:00:00Z&untilTime=2026-01-01T00:00:00Z",
    "query=/a",
  ])("accepts %s", (query) => {
    expect(read(query).kind).toBe("query");
  });

  it("names services and their options", () => {
    const query =
      "query=kubelet&query=crio&sinceTime=2026-01-02T03:04:05Z&untilTime=2026-01-02T13:14:15%2B01:00&tailLines=10&boot=-1&pattern=--foo";
    const found = read(query);
    const asked = found.kind === "query" && found.query.kind === "services" ? found.query : undefined;
    expect(asked && journalArguments(asked.services, asked.options)).toEqual([
      "--utc",
      "--no-pager",
      "--output=short-precise",
      "--since=2026-1-2 03:04:05",
      "--until=2026-1-2 12:14:15",
      "--pager-end",
      "--lines=10",
      "--unit=kubelet",
      "--unit=crio",
      "--grep=--foo",
      "--case-sensitive=false",
      "--boot",
      "-1",
    ]);
  });

  it.each([
    ["query=", '400 query: Invalid value: [""]: query cannot be empty'],
    ["query=%20", '400 query: Invalid value: [" "]: query cannot be empty'],
    ["query=a&sinceTime=now", '400 sinceTime: Invalid value: "now": invalid time format'],
    ["query=a&boot=x", '400 boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
    ["tailLines=5", "406 query: Required value: cannot be empty with options"],
    ["boot=0", "406 query: Required value: cannot be empty with options"],
    ["pattern=x", "406 query: Required value: cannot be empty with options"],
    ["sinceTime=2026-01-01T00:00:00Z", "406 query: Required value: cannot be empty with options"],
    ["untilTime=2026-01-01T00:00:00Z", "406 query: Required value: cannot be empty with options"],
    ["query=/a&boot=0", '406 query: Invalid value: ["/a"]: cannot specify file with options'],
    ["query=/a&pattern=x", '406 query: Invalid value: ["/a"]: cannot specify file with options'],
    ["query=/a&sinceTime=2026-01-01T00:00:00Z", '406 query: Invalid value: ["/a"]: cannot specify file with options'],
    ["query=/a&untilTime=2026-01-01T00:00:00Z", '406 query: Invalid value: ["/a"]: cannot specify file with options'],
    ["query=a&tailLines=-1", "406 tailLines: Invalid value: -1: must be between 0 and 100000, inclusive"],
    [
      "query=a&boot=1&pattern=%00",
      '406 [boot: Invalid value: 1: must be less than 1, pattern: Invalid value: "\\u0000": invalid character]',
    ],
    ["query=a&untilTime=later", '400 untilTime: Invalid value: "later": invalid time format'],
    ["query=a;b", '406 query: Invalid value: "a;b": input contains unsupported characters'],
    ["query=a&query=/b", '406 query: Invalid value: "[/b], [a]": cannot specify a file and service'],
    ["query=/a&query=/b", '406 query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
    ["query=/a&tailLines=1", '406 query: Invalid value: ["/a"]: cannot specify file with options'],
    ["query=a&query=b&query=c&query=d&query=e", "406 query: Too many: 5: must have at most 4 items"],
    [`query=${"a".repeat(257)}`, `406 query: Invalid value: "${"a".repeat(257)}": length must be less than 100`],
    ["query=a&boot=1", "406 boot: Invalid value: 1: must be less than 1"],
    ["query=a&tailLines=100001", "406 tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive"],
    [
      "query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z",
      '406 untilTime: Invalid value: "2026-1-1 00:00:00": must be after `sinceTime`',
    ],
    ["query=a&pattern=%00", '406 pattern: Invalid value: "\\u0000": invalid character'],
  ])("%s is rejected", (query, wanted) => {
    expect(faultOf(query)).toBe(wanted);
  });

  it("needs no option for a journal", () => {
    const found = read("query=kubelet@1");
    const asked = found.kind === "query" && found.query.kind === "services" ? found.query : undefined;
    expect(asked && journalArguments(asked.services, asked.options)).toEqual([
      "--utc",
      "--no-pager",
      "--output=short-precise",
      "--unit=kubelet@1",
    ]);
    expect(serviceLogFiles("crio")).toEqual(["crio", "crio.log", "crio/crio.log"]);
  });

  it("is accepted at the root only", () => {
    expect(faultOf("query=kubelet", "syslog")).toBe("406 path not allowed in query mode");
  });
});
