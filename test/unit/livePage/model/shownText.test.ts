import { expect, it } from "vitest";
import { expectLinear } from "../../../support/expectLinear.ts";
import { shownText } from "../../../../src/livePage/model/shownText.ts";

it.each([
  ["plain text", "plain text"],
  ["<b onclick=x>&amp;", "<b onclick=x>&amp;"],
  ["two\nlines\tand\rmore", "two lines and more"],
  ["\u0000\u001b[31m\u007f\u009b", "\ufffd\ufffd[31m\ufffd\ufffd"],
  ["abc\u202egnp.exe\u2066x\u200b", "abc\ufffdgnp.exe\ufffdx\ufffd"],
  ["\u{1f512} ok", "\u{1f512} ok"],
])("shows %j as %j", (text, shown) => {
  expect(shownText(text)).toBe(shown);
});
it("cuts a text at its bound, never within a character", () => {
  expect(shownText("abcdef", 6)).toBe("abcdef");
  expect(shownText("abcdefg", 6)).toBe("abcde\u2026");
  expect(shownText("abcd\u{1f512}fg", 6)).toBe("abcd\u2026");
  expect(shownText("x".repeat(2 ** 20))).toHaveLength(400);
});
it("takes time in proportion to the text", () => {
  expectLinear(
    (size) => "\u202e".repeat(size),
    (text) => shownText(text, text.length),
  );
});
