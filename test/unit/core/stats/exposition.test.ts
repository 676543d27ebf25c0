import { expect, it } from "vitest";
import { familyText, labelText, secondsOf } from "../../../../src/core/stats/exposition.ts";

it("escapes labels as the text format demands", () => {
  expect(labelText({ pod: "web", path: 'C:\\"a"\n' })).toBe('pod="web",path="C:\\\\\\"a\\"\\n"');
});

it("writes a family with the labels and times that its samples have, and none without a value", () => {
  const family = { name: "up", help: "Is up.", type: "gauge" } as const;
  const samples = [{ value: 1 }, { labels: 'a="b"', value: 2, time: 7 }, { value: undefined }];
  expect(familyText({ ...family, samples } as Parameters<typeof familyText>[0])).toBe(
    '# HELP up Is up.\n# TYPE up gauge\nup 1\nup{a="b"} 2 7\n',
  );
  expect(familyText({ ...family, samples: [{ value: undefined }] })).toBe("");
});

it.each([
  [undefined, undefined],
  [3, 3e-9],
  [0.4, 0],
  [1_500_000_000, 1.5],
])("%s ns are %s s, to the nanosecond", (nanoSeconds, seconds) => {
  expect(secondsOf(nanoSeconds)).toBe(seconds);
});
