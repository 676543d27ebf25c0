import { describe, expect, it } from "vitest";
import { parseExposition } from "../../support/exposition.ts";

const HEAD = "# HELP m help\n# TYPE m counter\n";
const HISTOGRAM = "# HELP m help\n# TYPE m histogram\n";

describe("the reader of metrics pages", () => {
  it("reads families, labels, values and times", () => {
    expect(parseExposition(`${HEAD}m{b="2",a="x\\"y"} 1.5e3 99\n`)).toEqual([
      {
        ...{ name: "m", type: "counter" },
        samples: [{ series: 'm{a="x\\"y",b="2"}', name: "m", labels: { a: 'x\\"y', b: "2" }, value: 1500, time: 99 }],
      },
    ]);
    const buckets = 'm_bucket{le="1"} 1\nm_bucket{le="+Inf"} 2\nm_sum 3\nm_count 2\n';
    expect(parseExposition(HISTOGRAM + buckets)[0]?.samples).toHaveLength(4);
  });

  it.each([
    ["a last line that is not ended", `${HEAD}m 1`],
    ["a sample without a family", "m 1\n"],
    ["a sample of another family", `${HEAD}n 1\n`],
    ["an empty line", `${HEAD}m 1\n\n`],
    ["a type without help", "# TYPE m counter\nm 1\n"],
    ["an unknown type", "# HELP m h\n# TYPE m number\nm 1\n"],
    ["a family twice", `${HEAD}m 1\n${HEAD}m{a="1"} 1\n`],
    ["a series twice", `${HEAD}m{a="1",b="2"} 1\nm{b="2",a="1"} 1\n`],
    ["a label twice", `${HEAD}m{a="1",a="2"} 1\n`],
    ["a quote in a label", `${HEAD}m{a="1"2"} 1\n`],
    ["no number", `${HEAD}m one\n`],
    ["a value that is not there", `${HEAD}m undefined\n`],
    ["a time with a fraction", `${HEAD}m 1 1.5\n`],
    ["a counter below zero", `${HEAD}m -1\n`],
    ["a family without samples", HEAD],
    ["different labels", `${HEAD}m{a="1"} 1\nm{b="1"} 1\n`],
    ["no last bucket", `${HISTOGRAM}m_bucket{le="1"} 1\nm_sum 1\nm_count 1\n`],
    ["buckets that shrink", `${HISTOGRAM}m_bucket{le="1"} 3\nm_bucket{le="+Inf"} 2\nm_sum 1\nm_count 2\n`],
    ["another count", `${HISTOGRAM}m_bucket{le="+Inf"} 2\nm_sum 1\nm_count 3\n`],
  ])("refuses %s", (_what, text) => {
    expect(() => parseExposition(text)).toThrow();
  });
});
