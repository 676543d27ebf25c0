import { expect, it } from "vitest";
import { parseDocument } from "yaml";
import { duplicateKeys } from "../../../src/core/yamlKeys.ts";

const found = (text: string) =>
  duplicateKeys(parseDocument(text, { uniqueKeys: false }).contents).map(({ name, offset }) => `${name} ${offset}`);
const times = (count: number) => `{${"a: 1, ".repeat(count)}}`;

it.each<[string, string, readonly string[]]>([
  ["an empty document", "", []],
  ["a scalar", "a", []],
  ["different keys", "a: 1\nb: 1\n", []],
  ["a repeated key", "a: 1\nb: 1\na: 2\n", ["a 10"]],
  ["a key that is repeated twice", "a: 1\na: 1\na: 1\n", ["a 5", "a 10"]],
  ["keys with the same text", "1: a\n'1': b\n", ["1 5"]],
  ["the same key in two maps", "a: {x: 1}\nb: {x: 1}\n", []],
  ["repeated keys in the order of the text", "a: {x: 1, x: 2}\nb: [{y: 1, y: 2}]\n", ["x 10", "y 27"]],
  ["a repeated key within a key", "{? {x: 1, x: 2} : 1}", ["x 10"]],
  ["a list as a key, which is not compared", "{? [a] : 1, ? [a] : 2}", []],
  ["several merges", "a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", []],
  ["a quoted merge key, which is a key", "'<<': 1\n'<<': 2\n", ["<< 8"]],
  ["21 equal keys", times(21), Array.from({ length: 20 }, (_, index) => `a ${7 + 6 * index}`)],
  ["22 equal keys", times(22), Array.from({ length: 20 }, (_, index) => `a ${7 + 6 * index}`)],
])("%s", (_, text, expected) => {
  expect(found(text)).toEqual(expected);
});
