import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { formatJsonLine, formatTextLine, type LogEntry } from "../../../../src/core/telemetry/logLine.ts";

const AT = epochMs(Date.UTC(2026, 0, 2, 15, 4, 5) + 0.25);
const entry = (fields: LogEntry["fields"], level: LogEntry["level"] = "info", message = "Pod started"): LogEntry => ({
  at: AT,
  level,
  message,
  fields,
});
const pairs = (fields: LogEntry["fields"]): string =>
  formatTextLine(entry(fields), 1)
    .replace(/^.*\] "Pod started" ?/, "")
    .trimEnd();

describe("formatTextLine", () => {
  it("has klog's header, the logger in place of the source, quoted text and references as namespace/name", () => {
    const line = formatTextLine(
      entry({ logger: "podWorker", pod: { namespace: "default", name: "web" }, attempt: 2, ready: true, image: "a b" }),
      1234,
    );
    expect(line).toBe(
      'I0102 15:04:05.000250    1234 podWorker] "Pod started" pod="default/web" attempt=2 ready=true image="a b"\n',
    );
  });

  it.each([
    ["debug", "I0102"],
    ["info", "I0102"],
    ["warn", "W0102"],
    ["error", "E0102"],
  ] as const)("marks %s lines %s", (level, head) => {
    expect(formatTextLine(entry({}, level), 7)).toBe(`${head} 15:04:05.000250       7 rxlet] "Pod started"\n`);
  });

  it.each<[string, LogEntry["fields"], string]>([
    ["line breaks stay inside the quotes", { text: "a\nb" }, 'text="a\\nb"'],
    ["lists and objects print as JSON", { list: ["a", 1], object: { a: null } }, 'list=["a",1] object={"a":null}'],
    ["cluster objects have no slash", { node: { namespace: "", name: "node-1" } }, 'node="node-1"'],
    ["undefined is left out", { a: undefined, b: 1 }, "b=1"],
    ["bigints, symbols and odd numbers print", { a: 12n, b: Number.NaN }, 'a="12" b="NaN"'],
    [
      "a KubeletError prints reason and message",
      { err: kubeletError("NotFound", "image x not found", { reason: "ErrImagePull" }) },
      'err="ErrImagePull: image x not found"',
    ],
    ["a reason that repeats the code is not said", { err: kubeletError("Io", "disk full") }, 'err="disk full"'],
    [
      "causes are said once",
      {
        err: kubeletError("Io", "cannot write /a", {
          cause: new Error("ENOSPC", { cause: new Error("cannot write /a") }),
        }),
      },
      'err="cannot write /a: ENOSPC"',
    ],
    ["an Error below error level prints its message only", { err: new Error("boom") }, 'err="boom"'],
  ])("%s", (_rule, fields, expected) => {
    expect(pairs(fields)).toBe(expected);
  });

  it("adds the stack, indented, to an Error logged as an error", () => {
    const err = new Error("boom");
    err.stack = "Error: boom\n    at a";
    expect(formatTextLine(entry({ err }, "error"), 7)).toBe(
      'E0102 15:04:05.000250       7 rxlet] "Pod started" err="boom"\n\tError: boom\n\t    at a\n',
    );
  });

  it.each<[string, LogEntry["fields"], string]>([
    [
      "keys that name a secret",
      { token: "t", clientSecret: "s", Authorization: "x" },
      'token="[redacted]" clientSecret="[redacted]" Authorization="[redacted]"',
    ],
    [
      "nested keys",
      { auth_config: { username: "u", password: "p" } },
      'auth_config={"username":"u","password":"[redacted]"}',
    ],
    [
      "environment values",
      {
        env: [
          { name: "A", value: "v" },
          { key: "B", value: "w" },
        ],
      },
      'env=[{"name":"A","value":"[redacted]"},{"name":"B","value":"[redacted]"}]',
    ],
    ["bearer tokens in text", { header: "Bearer abcdef.123" }, 'header="Bearer [redacted]"'],
    ["passwords in URLs", { url: "https://me:pw@host/x" }, 'url="https://[redacted]@host/x"'],
  ])("never writes secrets: %s", (_rule, fields, expected) => {
    expect(pairs(fields)).toBe(expected);
  });

  it("keeps numbers whose key looks like a secret", () => {
    expect(pairs({ tokens: 3 })).toBe("tokens=3");
  });

  it("bounds depth, width and length, and survives cycles and broken getters", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const broken = {
      get a(): never {
        throw new Error("no");
      },
    };
    const fields = { cycle, broken, long: "x".repeat(9000), many: Array.from({ length: 100 }, () => 0) };
    const line = pairs(fields);
    expect([line.length < 9000, line.includes("[too deep]"), line.includes('broken="[unreadable]"')]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("formatJsonLine", () => {
  it("is one JSON object with ts, level, v, msg and the fields", () => {
    expect(JSON.parse(formatJsonLine(entry({ pod: { namespace: "default", name: "web" }, attempt: 2 })))).toEqual({
      ts: AT,
      level: "info",
      v: 0,
      msg: "Pod started",
      pod: { namespace: "default", name: "web" },
      attempt: 2,
    });
  });

  it("contains v 4 on debug lines and no v on errors", () => {
    const verbosities = (["debug", "info", "warn", "error"] as const).map(
      (level) => (JSON.parse(formatJsonLine(entry({}, level))) as { v?: number }).v,
    );
    expect(verbosities).toEqual([4, 0, 0, undefined]);
  });

  it("does not let a field overwrite its own keys", () => {
    expect(JSON.parse(formatJsonLine(entry({ msg: "x", level: "y" })))).toEqual({
      ts: AT,
      level: "info",
      v: 0,
      msg: "Pod started",
      msg_: "x",
      level_: "y",
    });
  });

  it("writes errors as text, with the stack on error lines", () => {
    const err = new Error("boom");
    err.stack = "Error: boom\n    at a";
    expect(JSON.parse(formatJsonLine(entry({ err }, "error")))).toEqual({
      ts: AT,
      level: "error",
      msg: "Pod started",
      err: "boom",
      errorVerbose: "Error: boom\n    at a",
    });
  });

  it("ends in one line break and contains no other", () => {
    expect(formatJsonLine(entry({ a: "x\ny" }, "info", "two\nlines")).match(/\n/g)).toEqual(["\n"]);
  });
});
