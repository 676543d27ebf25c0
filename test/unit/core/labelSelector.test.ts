import { expect, it } from "vitest";
import { type LabelSelector, matchesLabels } from "../../../src/core/labelSelector.ts";

const LABELS = { app: "web", tier: "" };
const requirement = (key: string, operator: string, ...values: readonly string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

it.each<[selector: LabelSelector | undefined, isMatch: boolean]>([
  [undefined, false],
  [{}, true],
  [{ matchLabels: {} }, true],
  [{ matchLabels: { app: "web" } }, true],
  [{ matchLabels: { app: "web", tier: "" } }, true],
  [{ matchLabels: { app: "web", tier: "x" } }, false],
  [{ matchLabels: { none: "" } }, false],
  [{ matchLabels: { toString: "x" } }, false],
  [requirement("app", "In", "db", "web"), true],
  [requirement("app", "In", "db"), false],
  [requirement("none", "In", "db"), false],
  [requirement("app", "NotIn", "db", "web"), false],
  [requirement("app", "NotIn", "db"), true],
  [requirement("none", "NotIn", "db"), true],
  [requirement("tier", "Exists"), true],
  [requirement("none", "Exists"), false],
  [requirement("toString", "Exists"), false],
  [requirement("tier", "DoesNotExist"), false],
  [requirement("none", "DoesNotExist"), true],
  [{ matchLabels: { app: "web" }, ...requirement("none", "Exists") }, false],
  [{ matchLabels: { app: "db" }, ...requirement("app", "Exists") }, false],
  [{ matchLabels: { app: "web" }, ...requirement("app", "Exists") }, true],
])("the selector %j matches: %j", (selector, isMatch) => {
  expect(matchesLabels(selector, LABELS)).toEqual({ ok: true, value: isMatch });
});

it.each([
  [requirement("app", "In"), "values set can't be empty"],
  [requirement("app", "NotIn"), "values set can't be empty"],
  [requirement("app", "Exists", "x"), "values set must be empty for exists and does not exist"],
  [requirement("app", "DoesNotExist", "x"), "values set must be empty for exists and does not exist"],
  [requirement("app", "Gt", "1"), '"Gt" is not a valid label selector operator'],
  [{ matchLabels: { none: "" }, ...requirement("app", "Gt", "1") }, "is not a valid label selector operator"],
])("the selector %j is refused", (selector, message) => {
  expect(matchesLabels(selector, LABELS)).toMatchObject({
    ok: false,
    error: { code: "InvalidArgument", message: expect.stringContaining(message) },
  });
});
