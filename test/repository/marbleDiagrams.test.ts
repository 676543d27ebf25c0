import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

const nameOf = (callee: ts.Expression): string =>
  ts.isPropertyAccessExpression(callee) ? callee.name.text : ts.isIdentifier(callee) ? callee.text : "";

/** Returns the arguments of a call that are diagrams. */
function diagramsOf(call: ts.CallExpression): readonly ts.Expression[] {
  const [first, second] = call.arguments;
  const of = (...given: readonly (ts.Expression | undefined)[]) => given.filter((each) => each !== undefined);
  switch (nameOf(call.expression)) {
    case "hot":
    case "cold":
      return of(first);
    case "expectObservable":
      return of(second);
    case "toBe": {
      const subject = (call.expression as ts.PropertyAccessExpression).expression;
      if (!ts.isCallExpression(subject)) return [];
      const assertion = nameOf(subject.expression);
      return assertion === "expectObservable" ? of(first) : assertion === "expectSubscriptions" ? call.arguments : [];
    }
    default:
      return [];
  }
}

/** Returns the literals and names that an argument consists of, through conditions, fallbacks and calls. */
function partsOf(argument: ts.Expression): readonly ts.Expression[] {
  if (ts.isParenthesizedExpression(argument)) return partsOf(argument.expression);
  if (ts.isConditionalExpression(argument)) return [argument.whenTrue, argument.whenFalse].flatMap(partsOf);
  if (ts.isBinaryExpression(argument)) return [argument.left, argument.right].flatMap(partsOf);
  if (ts.isCallExpression(argument)) return argument.arguments.flatMap(partsOf);
  return [argument];
}

/** Returns the column of the first sign of the diagram that a statement declares; nothing for other statements. */
function columnOf(statement: ts.Statement, names: ReadonlySet<string>): number | undefined {
  if (!ts.isVariableStatement(statement)) return undefined;
  const [declaration] = statement.declarationList.declarations;
  if (declaration?.initializer === undefined || !ts.isStringLiteral(declaration.initializer)) return undefined;
  const { text } = declaration.initializer;
  if (!ts.isIdentifier(declaration.name) || !names.has(declaration.name.text) || text === "") return undefined;
  const source = statement.getSourceFile();
  const { character } = source.getLineAndCharacterOfPosition(declaration.initializer.getStart(source));
  return character + 1 + text.length - text.trimStart().length;
}

/** Returns inline diagrams, and blocks of diagrams whose columns differ, as `line: what`. */
function faults(text: string): readonly string[] {
  const source = ts.createSourceFile("t.ts", text, ts.ScriptTarget.Latest, true);
  const lineOf = (node: ts.Node): number => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
  const found: string[] = [];
  const names = new Set<string>();
  const blocks: ts.Block[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) blocks.push(node);
    if (ts.isCallExpression(node)) {
      for (const part of diagramsOf(node).flatMap(partsOf)) {
        if (ts.isIdentifier(part)) names.add(part.text);
        else if (ts.isStringLiteralLike(part)) found.push(`${lineOf(part)}: inline diagram ${part.getText(source)}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const block of blocks) {
    const columns = block.statements
      .map((statement) => columnOf(statement, names))
      .filter((each) => each !== undefined);
    if (new Set(columns).size > 1) found.push(`${lineOf(block)}: diagrams that do not line up`);
  }
  return found;
}

it.each([
  ["cold", 'cold("-a|")', '"-a|"'],
  ["hot, as a method", 'm.hot<string>("-a|", values)', '"-a|"'],
  ["a condition", 'cold(isSlow ? "--a" : quick)', '"--a"'],
  ["a fallback", 'cold(diagrams.shift() ?? "-")', '"-"'],
  ["a helper", 'expectObservable(a$).toBe(seconds("a--b"))', '"a--b"'],
  ["unsubscription", 'expectObservable(a$, "--!").toBe(expected)', '"--!"'],
  ["expectation", 'm.expectObservable(a$).toBe("-a|", { a: "x" })', '"-a|"'],
  ["subscriptions", 'expectSubscriptions(a$).toBe(first, "-^-!")', '"-^-!"'],
])("finds an inline diagram: %s", (_what, code, literal) => {
  expect(faults(code)).toEqual([`1: inline diagram ${literal}`]);
});

it("ignores other literals", () => {
  expect(faults('expect(name).toBe("-a|"); cold(source, { a: "x" }); split("-"); cold(`${delay}ms |`);')).toEqual([]);
});

const SHIFTED = [
  "{",
  '  const source = "-a|";',
  '  const expected = "-a|";',
  "  expectObservable(cold(source)).toBe(expected);",
  "}",
];

it("finds diagrams that do not line up", () => {
  expect(faults(SHIFTED.join("\n"))).toEqual(["1: diagrams that do not line up"]);
});

it("accepts diagrams that line up", () => {
  const aligned = SHIFTED.map((line) => line.replace('source = "', 'source = "  '));
  expect(faults(aligned.join("\n"))).toEqual([]);
});

it("marble tests have their diagrams in aligned blocks", () => {
  const files = globSync("test/**/*.ts", { cwd: root }).filter((file) => !file.startsWith("test/support/"));
  const marbleFiles = files.filter((file) => readFileSync(`${root}${file}`, "utf8").includes("marbles("));
  expect(marbleFiles.length).toBeGreaterThan(100);
  const found = marbleFiles.flatMap((file) =>
    faults(readFileSync(`${root}${file}`, "utf8")).map((fault) => `${file}:${fault}`),
  );
  expect(found).toEqual([]);
});
