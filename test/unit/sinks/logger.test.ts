import { describe, expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import { createLogger } from "../../../src/sinks/logger.ts";

const wallTime = () => epochMs(0);

function collected(verbosity: number) {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  return { lines, log: createLogger({ format: "text", verbosity, wallTime, destination, processId: 1 }) };
}

describe("createLogger", () => {
  it.each([
    [0, 3],
    [3, 3],
    [4, 4],
    [10, 4],
  ])("at verbosity %d writes %d of the four levels", (verbosity, count) => {
    const { lines, log } = collected(verbosity);
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(lines.length).toBe(count);
  });

  it("writes a line from its verbosity on, and does not ask for its fields below", () => {
    const asked: number[] = [];
    const written = [4, 5, 6].map((verbosity) => {
      const { lines, log } = collected(verbosity);
      log.with({ a: 1 }).verbose(5, "Runtime called", () => {
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
    own.verbose(9, "Pod inspected", () => ({}));
    log.setVerbosity(8);
    own.verbose(9, "Pod inspected", () => ({}));
    expect(lines.length).toBe(1);
  });

  it("adds the fields of `with` to every line, the line's own winning", () => {
    const { lines, log } = collected(0);
    log.with({ logger: "pleg", a: 1 }).with({ b: 2 }).info("Relisted", { a: 3 });
    expect(lines).toEqual(['I0101 00:00:00.000000       1 pleg] "Relisted" a=3 b=2\n']);
  });

  it("writes JSON when asked to", () => {
    const lines: string[] = [];
    createLogger({ format: "json", verbosity: 0, wallTime, destination: { write: (line) => lines.push(line) } }).info(
      "Up",
    );
    expect(lines).toEqual(['{"ts":0,"level":"info","v":0,"msg":"Up"}\n']);
  });

  it("does not throw when its destination does", () => {
    const destination = {
      write: () => {
        throw new Error("EPIPE");
      },
    };
    const log = createLogger({ format: "text", verbosity: 0, wallTime, destination });
    expect(() => log.error("lost")).not.toThrow();
  });
});
