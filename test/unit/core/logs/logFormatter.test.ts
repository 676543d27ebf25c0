import { describe, expect, it } from "vitest";
import { createLogFormatter, type LogFormat, prefixLengthFor } from "../../../../src/core/logs/logFormatter.ts";
import { parseLogInstant, sinceBound } from "../../../../src/core/logs/sinceBound.ts";

const ALL: LogFormat = { timestamps: false, isBefore: undefined, stream: undefined, limitBytes: undefined };
const since = (text: string): Partial<LogFormat> => {
  const instant = parseLogInstant(text);
  if (instant === undefined) throw new Error(`no instant: ${text}`);
  return { isBefore: sinceBound(instant) };
};

/** Formats the pieces one after the other. */
function format(pieces: readonly (string | Uint8Array)[], more: Partial<LogFormat> = {}): string {
  const formatter = createLogFormatter({ ...ALL, ...more });
  const out = pieces.map((piece) => {
    const bytes = Buffer.from(piece as string);
    const prefixLength = prefixLengthFor(bytes.length);
    const buffer = Buffer.alloc(prefixLength + bytes.length);
    buffer.set(bytes, prefixLength);
    return Buffer.from(buffer.subarray(0, formatter.format(buffer, prefixLength, buffer.length)));
  });
  return Buffer.concat(out).toString("latin1");
}

const T1 = "2026-01-02T03:04:05.000000001Z";
const T2 = "2026-01-02T03:04:06.000000002Z";
const entry = (time: string, stream: string, tag: string, text: string): string => `${time} ${stream} ${tag} ${text}\n`;
const LOG =
  entry(T1, "stdout", "F", "one") +
  entry(T1, "stderr", "P", "tw") +
  entry(T2, "stderr", "F", "o") +
  entry(T2, "stdout", "F:more", "") +
  entry(T2, "stdout", "F", "three");

describe("createLogFormatter", () => {
  it.each<[string, string, Partial<LogFormat>, string]>([
    ["content alone, parts of a line put together", LOG, {}, "one\ntwo\n\nthree\n"],
    ["times once a line", LOG, { timestamps: true }, `${T1} one\n${T1} two\n${T2} \n${T2} three\n`],
    ["one stream", LOG, { stream: "stderr" }, "two\n"],
    ["entries since a time, the part of a line too", LOG, since(T2), "o\n\nthree\n"],
    ["since a nanosecond later", LOG, since("2026-01-02T03:04:05.000000002Z"), "o\n\nthree\n"],
    ["since a time in another zone", LOG, since("2026-01-02T04:04:06+01:00"), "o\n\nthree\n"],
    ["a limit cuts a line", LOG, { limitBytes: 5 }, "one\nt"],
    ["a limit at the end of a line", LOG, { limitBytes: 4 }, "one\n"],
    ["a limit counts times", LOG, { limitBytes: 33, timestamps: true }, `${T1} on`],
    ["a limit within a time", LOG, { limitBytes: 3, timestamps: true }, "202"],
    ["an entry without its end is passed on", `${LOG}${T2} stdout F fo`, {}, "one\ntwo\n\nthree\nfo"],
    ["malformed entries are skipped", `garbage\n\n${entry(T1, "stdin", "F", "x")}${LOG}`, {}, "one\ntwo\n\nthree\n"],
    ["an entry without a tag is malformed", `${T1} stdout F\n${LOG}`, {}, "one\ntwo\n\nthree\n"],
    [
      "an empty part ends a line, as upstream",
      entry(T1, "stdout", "P", "") + entry(T2, "stdout", "F", "a"),
      { timestamps: true },
      `${T1} ${T2} a\n`,
    ],
  ])("%s", (_rule, log, more, expected) => {
    expect(format([log], more)).toBe(expected);
  });

  it.each([
    ["nine digits", "2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456789Z"],
    ["fewer", "2026-01-02T03:04:05.12Z", "2026-01-02T03:04:05.120000000Z"],
    ["more", "2026-01-02T03:04:05.1234567891Z", "2026-01-02T03:04:05.123456789Z"],
    ["none", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000000Z"],
    ["a zone", "2026-01-02T03:04:05.5+05:30", "2026-01-02T03:04:05.500000000+05:30"],
    ["no hours from UTC", "2026-01-02T03:04:05.5+00:00", "2026-01-02T03:04:05.500000000Z"],
  ])("writes a time of %s with nine digits", (_rule, time, expected) => {
    expect(format([entry(time, "stdout", "F", "x")], { timestamps: true })).toBe(`${expected} x\n`);
  });

  it.each(["+10:00", "+01:00", "+00:10", "+00:01"])("keeps the zone %s, which is not UTC", (zone) => {
    expect(format([entry(`2026-01-02T03:04:05.5${zone}`, "stdout", "F", "x")], { timestamps: true })).toBe(
      `2026-01-02T03:04:05.500000000${zone} x\n`,
    );
  });

  it("compares times of other zones", () => {
    const log =
      entry("2026-01-02T04:04:05.9+01:00", "stdout", "F", "old") +
      entry("2026-01-01T22:04:06-05:00", "stdout", "F", "new");
    expect(format([log], since("2026-01-02T03:04:06Z"))).toBe("new\n");
  });

  const cases: readonly Partial<LogFormat>[] = [
    {},
    { timestamps: true },
    { stream: "stderr" },
    since(T2),
    { limitBytes: 9 },
  ];
  it.each(cases)("gives the same output however the input is cut: %j", (more) => {
    const log = `garbage\n${LOG}${entry("2026-01-02T03:04:07.5+02:00", "stdout", "P", "x")}${entry(T2, "stdout", "F", "y")}`;
    const whole = format([log], more);
    for (let cut = 0; cut <= log.length; cut++) expect(format([log.slice(0, cut), log.slice(cut)], more)).toBe(whole);
    expect(format([...log], more)).toBe(whole);
  });

  it("never overtakes its input, however short entries and timestamps are", () => {
    const log = entry("2026-01-02T03:04:05Z", "stdout", "F", "").repeat(40_000);
    expect(format([log], { timestamps: true })).toBe("2026-01-02T03:04:05.000000000Z \n".repeat(40_000));
  });

  it("keeps no reference to a reused buffer", () => {
    const formatter = createLogFormatter({ ...ALL, timestamps: true });
    const prefixLength = prefixLengthFor(LOG.length);
    const buffer = Buffer.alloc(prefixLength + LOG.length);
    const out = [...LOG].map((byte) => {
      buffer.fill("x").write(byte, prefixLength);
      return buffer.toString("latin1", 0, formatter.format(buffer, prefixLength, prefixLength + 1));
    });
    expect(out.join("")).toBe(format([LOG], { timestamps: true }));
  });

  it("keeps bytes that are not valid text", () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i).filter((i) => i !== 10));
    const log = Buffer.concat([Buffer.from(`${T1} stdout F `), bytes, Buffer.from("\n")]);
    expect(format([log])).toBe(`${bytes.toString("latin1")}\n`);
  });

  it("passes a line of megabytes on in chunks without storing it", () => {
    const piece = "x".repeat(1 << 20);
    expect(format([`${T1} stdout F `, piece, piece, piece, "\n"]).length).toBe(3 * piece.length + 1);
    expect(format([piece, piece, `\n${LOG}`])).toBe("one\ntwo\n\nthree\n");
  });

  /** A formatter that is given one text after the other. */
  const formatting = (more: Partial<LogFormat> = {}) => {
    const formatter = createLogFormatter({ ...ALL, ...more });
    const run = (text: string): string => {
      const buffer = Buffer.concat([Buffer.alloc(prefixLengthFor(text.length)), Buffer.from(text)]);
      return buffer.subarray(0, formatter.format(buffer, prefixLengthFor(text.length), buffer.length)).toString();
    };
    return { formatter, run };
  };

  it("writes no time within a line that the file before left unfinished", () => {
    const { formatter, run } = formatting({ timestamps: true });
    expect(run(`${T1} stdout F ab`)).toBe(`${T1} ab`);
    formatter.startFile();
    expect(run(LOG)).toBe(`one\n${T1} two\n${T2} \n${T2} three\n`);
  });

  it("knows whether it is between entries and full", () => {
    const { formatter, run } = formatting({ limitBytes: 3 });
    const state = () => [formatter.isBetweenEntries, formatter.isFull];
    expect(state()).toEqual([true, false]);
    run(T1.slice(0, 5));
    expect(state()).toEqual([false, false]);
    run(`${T1.slice(5)} stdout F ab`);
    expect(state()).toEqual([false, false]);
    run("\n");
    expect(state()).toEqual([true, true]);
  });

  it("counts malformed entries, and forgets a cut header with its file", () => {
    const { formatter, run } = formatting();
    run("garbage\n\n");
    run(T1);
    expect([formatter.isBetweenEntries, formatter.isFull, formatter.malformed]).toEqual([false, false, 2]);
    formatter.startFile();
    expect([formatter.isBetweenEntries, formatter.isFull, formatter.malformed]).toEqual([true, false, 2]);
  });

  it("ends an unfinished entry with its file", () => {
    const { formatter, run } = formatting();
    expect(run(`${T1} stdout F ab`)).toBe("ab");
    formatter.startFile();
    expect(run(LOG)).toBe("one\ntwo\n\nthree\n");
  });
});
