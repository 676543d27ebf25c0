import { describe, expect, it } from "vitest";
import { changedProblems, NO_PROBLEM_LINES, problemBlock } from "../../../src/cli/problemLines.ts";
import { screenLines } from "../../../src/cli/screenLines.ts";
import { epochMs } from "../../../src/core/ids.ts";
import type { ManifestProblem } from "../../../src/core/pod/sourceSnapshot.ts";

const DIRECTORY = "/pods";
const NOW = epochMs(1_767_225_600_000);
const problem = (origin: string, more: Partial<ManifestProblem> = {}): ManifestProblem => ({
  severity: "error",
  origin: `${DIRECTORY}/${origin}`,
  line: 3,
  field: "spec.nodeName",
  reason: "Forbidden",
  pod: undefined,
  ...more,
});
const warning = (origin: string): ManifestProblem => problem(origin, { severity: "warning" });

describe("problemBlock", () => {
  const block = (problems: readonly ManifestProblem[], columns = 80, rows = 20) =>
    problemBlock(problems, DIRECTORY, { columns, rows });

  it("is empty without problems", () => {
    expect(block([])).toEqual([]);
  });
  it("lists errors before warnings, with paths relative to the manifest directory", () => {
    expect(block([warning("a.yaml"), problem("b.yaml"), problem("", { origin: "/pods", line: undefined })])).toEqual([
      "Problems",
      "  error    b.yaml:3: spec.nodeName: Forbidden",
      "  error    /pods: spec.nodeName: Forbidden",
      "  warning  a.yaml:3: spec.nodeName: Forbidden",
    ]);
  });
  it("wraps a long reason instead of cutting it", () => {
    const reason = 'must be a list, not the string "sleep 1000", as every command of a container';
    expect(block([problem("long.yaml", { reason })], 60)).toEqual([
      "Problems",
      "  error    long.yaml:3: spec.nodeName: must be a list, not",
      '           the string "sleep 1000", as every command of a',
      "           container",
    ]);
  });
  it("gives one problem four lines at most", () => {
    const lines = block([problem("long.yaml", { reason: "x".repeat(5_000) })], 40);
    expect([lines.length, lines.every((line) => line.length <= 40), lines.at(-1)?.endsWith("\u2026")]).toEqual([
      5,
      true,
      true,
    ]);
  });
  it("counts the problems that do not fit", () => {
    const many = Array.from({ length: 30 }, (_, index) => problem(`${index}.yaml`));
    const lines = block(many, 80, 6);
    expect([lines.length, lines.at(-1)]).toEqual([
      6,
      '  ... and 26 more: a taller terminal shows them, "explain POD" those of one pod',
    ]);
  });
  it("shows all problems when they just fit", () => {
    expect(block([problem("a.yaml"), problem("b.yaml")], 80, 3)).toEqual([
      "Problems",
      "  error    a.yaml:3: spec.nodeName: Forbidden",
      "  error    b.yaml:3: spec.nodeName: Forbidden",
    ]);
  });
  it.each([0, 1, 2])("takes no more than %i rows", (rows) => {
    expect(block([problem("a.yaml", { reason: "x ".repeat(100) })], 30, rows).length).toBeLessThanOrEqual(rows);
  });
  it("shows no control characters", () => {
    expect(block([problem("a\u001b[2J.yaml", { reason: "one\ntwo" })])[1]).toBe(
      "  error    a [2J.yaml:3: spec.nodeName: one two",
    );
  });
});

describe("changedProblems", () => {
  const lines = (...steps: readonly (readonly ManifestProblem[])[]) =>
    steps.reduce((last, problems) => changedProblems(last, problems, DIRECTORY, NOW), NO_PROBLEM_LINES).text;
  const AT = "2026-01-01T00:00:00Z";

  it("prints a new problem once", () => {
    expect(lines([problem("a.yaml"), warning("b.yaml")])).toEqual([
      `${AT}  error     a.yaml:3: spec.nodeName: Forbidden`,
      `${AT}  warning   b.yaml:3: spec.nodeName: Forbidden`,
    ]);
    expect(lines([problem("a.yaml")], [problem("a.yaml")])).toEqual([]);
  });
  it("prints each of two lines with the same problem", () => {
    const tab = (line: number) => problem("a.yaml", { line, field: undefined, reason: "tab" });
    expect(lines([tab(4), tab(6)])).toEqual([`${AT}  error     a.yaml:4: tab`, `${AT}  error     a.yaml:6: tab`]);
  });
  it("prints nothing when a problem moves to another line of its file", () => {
    expect(lines([problem("a.yaml")], [problem("a.yaml", { line: 4 })])).toEqual([]);
  });
  it("prints the new reason of a field that is still wrong", () => {
    expect(lines([problem("a.yaml")], [problem("a.yaml", { reason: "Required value" })])).toEqual([
      `${AT}  error     a.yaml:3: spec.nodeName: Required value`,
    ]);
  });
  it("prints that a problem is resolved", () => {
    expect(lines([problem("a.yaml"), problem("b.yaml")], [problem("b.yaml")])).toEqual([
      `${AT}  resolved  a.yaml:3: spec.nodeName: Forbidden`,
    ]);
  });
});

describe("screenLines", () => {
  const head = () => ["head"];
  const table = (pods: number) => ["NAME", ...Array.from({ length: pods }, (_, index) => `pod-${index}`)];
  const screen = (pods: number, problems: readonly ManifestProblem[], rows: number) =>
    screenLines(head, table(pods), { problems, manifests: DIRECTORY }, { columns: 80, rows });

  it("puts problems under the table", () => {
    expect(screen(1, [problem("a.yaml")], 24)).toEqual([
      "head",
      "",
      "NAME",
      "pod-0",
      "",
      "Problems",
      "  error    a.yaml:3: spec.nodeName: Forbidden",
    ]);
  });
  it("leaves the table as it is without problems", () => {
    expect(screen(20, [], 24)).toEqual(["head", "", ...table(20)]);
  });
  it("leaves the header the rows that table and problems do not need, and half of the screen at least", () => {
    const roomWith = (pods: number, problems: readonly ManifestProblem[]): number => {
      const rooms: number[] = [];
      const heading = (rows: number): readonly string[] => {
        rooms.push(rows);
        return [];
      };
      screenLines(heading, table(pods), { problems, manifests: DIRECTORY }, { columns: 80, rows: 24 });
      return rooms[0] ?? 0;
    };
    const bad = [problem("a.yaml")];
    expect([roomWith(1, []), roomWith(1, bad), roomWith(40, []), roomWith(40, bad)]).toEqual([20, 12, 11, 11]);
  });
  it("counts the pods that have no room, and says how to see them", () => {
    expect(screen(60, [], 24)).toEqual(["head", "", ...table(60).slice(0, 20), '... 41 more: "get pods" lists all']);
  });
  it("shows the problems of a table of 60 rows where a tall terminal has room for all", () => {
    const many = Array.from({ length: 30 }, (_, index) => problem(`${String(index).padStart(2, "0")}.yaml`));
    const lines = screen(60, many, 96);
    expect(lines).toEqual([
      "head",
      "",
      ...table(60),
      "",
      "Problems",
      ...many.map(({ origin }) => `  error    ${origin.slice(DIRECTORY.length + 1)}:3: spec.nodeName: Forbidden`),
    ]);
  });
  it("gives problems a third of a full screen, and counts the pods left out", () => {
    const many = Array.from({ length: 30 }, (_, index) => problem(`${index}.yaml`));
    const lines = screen(100, many, 24);
    expect(lines.length).toBe(23);
    expect(lines.slice(-7)).toEqual([
      "Problems",
      ...[0, 1, 2, 3, 4].map((index) => `  error    ${index}.yaml:3: spec.nodeName: Forbidden`),
      '  ... and 25 more: a taller terminal shows them, "explain POD" those of one pod',
    ]);
    expect(lines.at(-9)).toMatch(/^\.\.\. \d+ more: "get pods" lists all$/);
  });
});
