import { describe, expect, it } from "vitest";
import type { VModuleItem } from "../../../src/core/config/kubeletConfiguration.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { createLogger } from "../../../src/sinks/logger.ts";
import { toOne } from "../../../src/sinks/logOutput.ts";

const wallTime = () => epochMs(0);

function collected(verbosity: number, vmodule: readonly VModuleItem[] = []) {
  const lines: string[] = [];
  const output = toOne({ write: (line: string) => lines.push(line) });
  return { lines, log: createLogger({ format: "text", verbosity, vmodule, wallTime, output, processId: 1 }) };
}

describe("createLogger", () => {
  it.each([
    [0, 3],
    [3, 3],
    [4, 4],
    [10, 4],
  ])("at verbosity %d writes %d of the four levels", (verbosity, count) => {
    const { lines, log } = collected(verbosity);
    log.debug("relists", "a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(lines.length).toBe(count);
  });

  it("writes a line from its verbosity on, and does not ask for its fields below", () => {
    const asked: number[] = [];
    const written = [4, 5, 6].map((verbosity) => {
      const { lines, log } = collected(verbosity);
      log.with({ a: 1 }).verbose("criMetrics", 5, "Runtime called", () => {
        asked.push(verbosity);
        return { b: 2 };
      });
      return lines.length;
    });
    expect([written, asked]).toEqual([
      [0, 1, 1],
      [5, 6],
    ]);
  });

  it("follows a verbosity that is set later", () => {
    const { lines, log } = collected(0);
    const own = log.with({ a: 1 });
    log.setVerbosity(9);
    own.verbose("pleg", 9, "Pod inspected", () => ({}));
    log.setVerbosity(8);
    own.verbose("pleg", 9, "Pod inspected", () => ({}));
    expect(lines.length).toBe(1);
  });

  it("writes the lines of a file up to its own verbosity, at its place", () => {
    const { lines, log } = collected(0, [{ filePattern: "pl*", verbosity: 8 }]);
    for (const file of ["pleg", "relists"]) {
      log.debug(file, "Debugged");
      log.verbose(file, 8, "Probed", () => ({}));
      log.verbose(file, 9, "Inspected", () => ({}));
    }
    expect(lines.map((line) => line.slice(30).trimEnd())).toEqual(['pleg] "Debugged"', 'pleg] "Probed"']);
  });

  it("never writes less of a file than of all", () => {
    const { lines, log } = collected(5, [{ filePattern: "pleg", verbosity: 1 }]);
    log.debug("pleg", "Debugged");
    expect(lines.length).toBe(1);
  });

  it("adds the fields of `with` to every line, the line's own winning", () => {
    const { lines, log } = collected(0);
    log.with({ logger: "pleg", a: 1 }).with({ b: 2 }).info("Relisted", { a: 3 });
    expect(lines).toEqual(['I0101 00:00:00.000000       1 pleg] "Relisted" a=3 b=2\n']);
  });

  it("writes JSON when asked to", () => {
    const lines: string[] = [];
    const output = toOne({ write: (line: string) => lines.push(line) });
    createLogger({ format: "json", verbosity: 0, wallTime, output }).info("Up");
    expect(lines).toEqual(['{"ts":0,"level":"info","v":0,"msg":"Up"}\n']);
  });

  it.each([
    ["text", ["debug", "info"], ["warn", "error"]],
    ["json", ["debug", "info", "warn"], ["error"]],
  ] as const)("in %s writes %j as infos and %j as errors", (format, infos, errors) => {
    const written = { infos: [] as string[], errors: [] as string[] };
    const to = (lines: string[]) => ({ write: (line: string) => lines.push(/debug|info|warn|error/.exec(line)![0]) });
    const output = { infos: to(written.infos), errors: to(written.errors) };
    const log = createLogger({ format, verbosity: 4, wallTime, output });
    log.debug("pleg", "debug");
    log.info("info");
    log.warn("warn");
    log.error("error");
    expect(written).toEqual({ infos, errors });
  });

  it("does not throw when its destination does", () => {
    const output = toOne({
      write: () => {
        throw new Error("EPIPE");
      },
    });
    const log = createLogger({ format: "text", verbosity: 0, wallTime, output });
    expect(() => log.error("lost")).not.toThrow();
  });
});
