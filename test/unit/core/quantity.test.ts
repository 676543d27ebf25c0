import { describe, expect, it } from "vitest";
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityMilli,
  quantityOf,
  quantityOfMilli,
  quantityValue,
  subtractQuantity,
} from "../../../src/core/quantity.ts";

const must = (text: string | number): Quantity => {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`${text} should be a quantity`);
  return quantity;
};

describe("parseQuantity", () => {
  const NANO = 1_000_000_000n;
  it.each<[string | number, bigint, QuantityFormat]>([
    ["0", 0n, "DecimalSI"],
    ["0n", 0n, "DecimalSI"],
    ["0Ki", 0n, "BinarySI"],
    ["0e0", 0n, "DecimalExponent"],
    ["1n", 1n, "DecimalSI"],
    ["1u", 1_000n, "DecimalSI"],
    ["100m", 100_000_000n, "DecimalSI"],
    ["1", NANO, "DecimalSI"],
    ["+1", NANO, "DecimalSI"],
    ["-1", -NANO, "DecimalSI"],
    ["00012", 12n * NANO, "DecimalSI"],
    ["1.", NANO, "DecimalSI"],
    [".5", NANO / 2n, "DecimalSI"],
    ["1k", 1_000n * NANO, "DecimalSI"],
    ["1.5M", 1_500_000n * NANO, "DecimalSI"],
    ["1E", 10n ** 18n * NANO, "DecimalSI"],
    ["1Ki", 1024n * NANO, "BinarySI"],
    ["1.5Gi", 1_610_612_736n * NANO, "BinarySI"],
    ["0.5Ki", 512n * NANO, "BinarySI"],
    ["12e6", 12_000_000n * NANO, "DecimalExponent"],
    ["1E3", 1_000n * NANO, "DecimalExponent"],
    ["1e-3", 1_000_000n, "DecimalExponent"],
    ["1e+3", 1_000n * NANO, "DecimalExponent"],
    // Finer than a nano: rounded away from zero, never to nothing.
    ["0.1n", 1n, "DecimalSI"],
    ["-0.1n", -1n, "DecimalSI"],
    ["1.1n", 2n, "DecimalSI"],
    ["1e-10", 1n, "DecimalExponent"],
    ["1e-999999", 1n, "DecimalExponent"],
    // A binary amount below one is decimal from then on.
    ["0.0001Ki", 102_400_000n, "DecimalSI"],
    // Binary amounts stop at 64 bits.
    ["8Ei", (2n ** 63n - 1n) * NANO, "BinarySI"],
    ["-9Ei", -(2n ** 63n - 1n) * NANO, "BinarySI"],
    // Plain JSON numbers.
    [2, 2n * NANO, "DecimalSI"],
    ["0".repeat(255).concat("1"), NANO, "DecimalSI"],
    ["1e100", 10n ** 109n, "DecimalExponent"],
    [0.25, NANO / 4n, "DecimalSI"],
    [1e21, 10n ** 21n * NANO, "DecimalExponent"],
  ])("reads %s", (text, nano, format) => {
    expect(parseQuantity(text)).toEqual({ nano, format });
  });

  it.each<[string | number]>([
    [""],
    [" "],
    ["- 1"],
    ["1 "],
    [" 1"],
    ["."],
    ["-"],
    ["+"],
    ["1.1.M"],
    ["1+1.0M"],
    ["0.1mi"],
    ["0.1am"],
    ["aoeu"],
    [".5i"],
    ["1i"],
    ["-3.01i"],
    ["-3.01e-"],
    ["1ki"],
    ["1K"],
    ["1e"],
    ["1e1.5"],
    ["1Kim"],
    ["e3"],
    ["100%"],
    ["15Ky"],
    ["0x10"],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    ["1e101"],
    ["0".repeat(256).concat("1")],
  ])("refuses %s", (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });
});

describe("quantityValue and quantityMilli", () => {
  it.each<[string, bigint, bigint]>([
    ["0", 0n, 0n],
    ["1", 1n, 1_000n],
    ["1m", 1n, 1n],
    ["1n", 1n, 1n],
    ["-1n", -1n, -1n],
    ["1001m", 2n, 1_001n],
    ["-1500m", -2n, -1_500n],
    ["100Mi", 104_857_600n, 104_857_600_000n],
    ["0.1", 1n, 100n],
  ])("round %s away from zero", (text, value, milli) => {
    expect([quantityValue(must(text)), quantityMilli(must(text))]).toEqual([value, milli]);
  });
});

describe("formatQuantity", () => {
  it.each<[string, string]>([
    ["0", "0"],
    ["0Mi", "0"],
    ["1", "1"],
    ["1.5", "1500m"],
    ["1.5Gi", "1536Mi"],
    ["1Ki", "1Ki"],
    ["1024Ki", "1Mi"],
    ["1000Ki", "1000Ki"],
    ["8Ki", "8Ki"],
    ["7Mi", "7Mi"],
    ["1025Ki", "1025Ki"],
    ["0.5Ki", "512"],
    ["1.1Ki", "1126400m"],
    ["8Ei", "9223372036854775807"],
    ["1000k", "1M"],
    ["1000000", "1M"],
    ["1000E", "1000E"],
    ["123k", "123k"],
    ["0.001m", "1u"],
    ["10n", "10n"],
    ["-500m", "-500m"],
    ["12e6", "12e6"],
    ["1200e3", "1200e3"],
    ["100e4", "1e6"],
    ["1e5", "100e3"],
    ["1e0", "1"],
    ["1.5e-3", "1500e-6"],
    ["1e30", "1e30"],
    ["00100M", "100M"],
    ["2048Mi", "2Gi"],
  ])("writes %s as %s", (text, canonical) => {
    expect(formatQuantity(must(text))).toBe(canonical);
  });

  it("writes binary amounts beyond the largest suffix with it", () => {
    expect(
      [2n ** 60n, 2n ** 69n, 2n ** 70n, 2n ** 80n].map((units) => formatQuantity(quantityOf(units, "BinarySI"))),
    ).toEqual(["1Ei", "512Ei", "1024Ei", "1048576Ei"]);
  });

  it.each([
    [1023n, "1023"],
    [1024n, "1Ki"],
    [1025n, "1025"],
    [-1023n, "-1023"],
    [-1024n, "-1Ki"],
    [2000n, "2000"],
    [1000n, "1k"],
  ])("writes the binary amount %d as %s", (units, text) => {
    expect(formatQuantity(quantityOf(units, "BinarySI"))).toBe(text);
  });

  it("is stable: its own output reads back as the same amount", () => {
    const texts = ["1.5Gi", "0.1n", "123456789m", "1e-5", "7Ei", "1000E", "-3.5Mi", "999Ki"];
    expect(texts.map((text) => must(formatQuantity(must(text))).nano)).toEqual(texts.map((text) => must(text).nano));
  });
});

describe("arithmetic", () => {
  it("adds exactly and keeps the first format unless the first is zero", () => {
    expect([
      formatQuantity(addQuantity(must("0.1"), must("0.2"))),
      formatQuantity(addQuantity(must("1Gi"), must("1024k"))),
      formatQuantity(addQuantity(must("0"), must("1Gi"))),
      formatQuantity(addQuantity(must("1e3"), must("1k"))),
    ]).toEqual(["300m", "1049576Ki", "1Gi", "2e3"]);
  });

  it("subtracts exactly, below zero too", () => {
    expect([
      formatQuantity(subtractQuantity(must("1Gi"), must("512Mi"))),
      formatQuantity(subtractQuantity(must("100m"), must("1"))),
    ]).toEqual(["512Mi", "-900m"]);
  });

  it("compares amounts, whatever the format", () => {
    expect([
      compareQuantity(must("1Ki"), must("1024")),
      compareQuantity(must("1m"), must("1")),
      compareQuantity(must("2Gi"), must("2G")),
      compareQuantity(must("-1"), must("0")),
    ]).toEqual([0, -1, 1, -1]);
  });

  it("builds from whole units and from thousandths", () => {
    expect([formatQuantity(quantityOf(2048, "BinarySI")), formatQuantity(quantityOfMilli(250n))]).toEqual([
      "2Ki",
      "250m",
    ]);
  });
});
