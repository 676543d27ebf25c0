/**
 * Mutations of TypeScript sources: small edits that change what the code does. The edits are found in the syntax tree,
 * so comments, types and imports stay as they are.
 */
import ts from "typescript";

/** A single edit: `original` at `start` becomes `replacement`. `line` counts from 1. */
export interface Mutation {
  readonly start: number;
  readonly original: string;
  readonly replacement: string;
  readonly line: number;
}

/** The opposite of an operator, or a neighbour of it. */
const OPERATORS = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.SlashToken, "*"],
]);

/** Texts that only people read: changing them is no change of behaviour worth a test. */
const isMessage = (node: ts.StringLiteral): boolean => node.text.includes(" ");

/** Every mutation of a source text, in the order of the text. */
export function mutationsOf(fileName: string, text: string): readonly Mutation[] {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.ESNext, true);
  const found: Mutation[] = [];
  const add = (node: ts.Node, replacement: string): void => {
    const start = node.getStart(source);
    const original = text.slice(start, node.end);
    const { line } = source.getLineAndCharacterOfPosition(start);
    if (original !== replacement) found.push({ start, original, replacement, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (isOutOfScope(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.toSorted((a, b) => a.start - b.start);
}

/** The text after the mutation. */
export const applied = (text: string, { start, original, replacement }: Mutation): string =>
  text.slice(0, start) + replacement + text.slice(start + original.length);

/**
 * Types, imports and thrown errors: they have no behaviour, or one that only a bug shows. Lines of the log that tell how
 * things go: people read them, and nothing follows from them. Warnings and errors may be the only trace of a failure.
 */
const isOutOfScope = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isThrowStatement(node) ||
  (ts.isExpressionStatement(node) && (isAssertion(node.expression) || isChat(node.expression))) ||
  isAssertion(node);

const isChat = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && /\blog\.(info|verbose|debug)$/.test(node.expression.getText());

const isAssertion = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && ["invariant", "unreachable"].includes(node.expression.getText());

function mutate(node: ts.Node, add: (node: ts.Node, replacement: string) => void): void {
  if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS.get(node.operatorToken.kind);
    const joinsText = operator === "-" && [node.left, node.right].some(isText);
    const isMoot = isComparison(node) && (isOfUnequal(node) || isOrdering(node.parent));
    if (operator !== undefined && !joinsText && !isMoot) add(node.operatorToken, operator);
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) add(node, node.right.getText());
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add(node, node.operand.getText());
  } else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    add(condition, `!(${condition.getText()})`);
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
    add(node, "false");
  } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
    add(node, "true");
  } else if (ts.isNumericLiteral(node)) {
    if (isOrdering(ts.isPrefixUnaryExpression(node.parent) ? node.parent.parent : node.parent)) return;
    add(node, isUnitFactor(node) ? `(${node.text} * 2)` : `(${node.text} + 1)`);
  } else if (ts.isStringLiteral(node) && !isMessage(node) && node.text !== "" && !isName(node)) {
    add(node, '"mutated"');
  } else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    add(node, ";");
  }
}

const isText = (node: ts.Node): boolean => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** A factor such as MS_PER_SECOND that is off by one differs by less than tests or people notice; a wrong unit is not. */
const isUnitFactor = (node: ts.NumericLiteral): boolean =>
  ts.isVariableDeclaration(node.parent) && /_PER_/.test(node.parent.name.getText());

/** A property's name is no value. */
const isName = (node: ts.StringLiteral): boolean => ts.isPropertyAssignment(node.parent) && node.parent.name === node;

const isComparison = ({ operatorToken }: ts.BinaryExpression): boolean =>
  [
    ts.SyntaxKind.LessThanToken,
    ts.SyntaxKind.LessThanEqualsToken,
    ts.SyntaxKind.GreaterThanToken,
    ts.SyntaxKind.GreaterThanEqualsToken,
  ].includes(operatorToken.kind);

/**
 * `a < b ? -1 : 1` orders things that are never equal, so the bound is moot, and a sort reads only the sign of its
 * numbers. The negated condition is a mutation all the same.
 */
const isOrdering = (node: ts.Node): boolean =>
  ts.isConditionalExpression(node) &&
  ["-1 1", "1 -1"].includes(`${node.whenTrue.getText()} ${node.whenFalse.getText()}`);

/** `a > b` where `a === b` was ruled out just before: `a >= b` is the same. */
function isOfUnequal({ left, right, parent }: ts.BinaryExpression): boolean {
  const [a, b] = [left.getText(), right.getText()];
  const compares = (condition: ts.Node, operator: string): boolean =>
    [`${a} ${operator} ${b}`, `${b} ${operator} ${a}`].includes(condition.getText());
  const statement = parent.parent;
  const place = ts.isBlock(statement) ? statement.statements.findIndex((child) => child === parent) : -1;
  const before = place > 0 && ts.isBlock(statement) ? statement.statements[place - 1] : undefined;
  if (before !== undefined && ts.isIfStatement(before) && ts.isReturnStatement(before.thenStatement)) {
    return compares(before.expression, "===");
  }
  return ts.isIfStatement(statement) && statement.thenStatement === parent && compares(statement.expression, "!==");
}
