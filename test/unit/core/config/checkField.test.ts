import { expect, it } from "vitest";
import { ruleFault } from "../../../../src/core/config/checkField.ts";
import type { FieldRule } from "../../../../src/core/config/configField.ts";

const RANGE = "must be between 1 and 5, got";
const PORT = "must be a port between 1 and 65535, got";

it.each<[rule: FieldRule, value: unknown, fault: string | undefined]>([
  [{ kind: "range", min: 1, max: 5 }, 0, `${RANGE} 0`],
  [{ kind: "range", min: 1, max: 5 }, 1, undefined],
  [{ kind: "range", min: 1, max: 5 }, 5, undefined],
  [{ kind: "range", min: 1, max: 5 }, 6, `${RANGE} 6`],
  [{ kind: "range", max: 5 }, 5, undefined],
  [{ kind: "range", max: 5 }, 6, "must be at most 5, got 6"],
  [{ kind: "range", min: 0 }, -1, "must not be negative, got -1"],
  [{ kind: "range", min: 0 }, 0, undefined],
  [{ kind: "range", min: 1 }, 0, "must be at least 1, got 0"],
  [{ kind: "range" }, -1e9, undefined],
  [{ kind: "durationRange", minMs: 1000, maxMs: 60_000 }, 999, "must be between 1s and 1m0s, got 999ms"],
  [{ kind: "durationRange", minMs: 1000, maxMs: 60_000 }, 1000, undefined],
  [{ kind: "durationRange", minMs: 1000, maxMs: 60_000 }, 60_000, undefined],
  [{ kind: "durationRange", minMs: 1000, maxMs: 60_000 }, 60_001, "must be between 1s and 1m0s, got 1m0.001s"],
  [{ kind: "zeroOrDuration", minMs: 1000 }, 0, undefined],
  [{ kind: "zeroOrDuration", minMs: 1000 }, 999, "must be 0s or at least 1s, got 999ms"],
  [{ kind: "zeroOrDuration", minMs: 1000 }, 1000, undefined],
  [{ kind: "above", min: 0, max: 1 }, 0, "must be more than 0 and at most 1, got 0"],
  [{ kind: "above", min: 0, max: 1 }, 0.01, undefined],
  [{ kind: "above", min: 0, max: 1 }, 1, undefined],
  [{ kind: "above", min: 0, max: 1 }, 1.01, "must be more than 0 and at most 1, got 1.01"],
  [{ kind: "port", zero: false }, 0, `${PORT} 0`],
  [{ kind: "port", zero: false }, 1, undefined],
  [{ kind: "port", zero: false }, 65_535, undefined],
  [{ kind: "port", zero: false }, 65_536, `${PORT} 65536`],
  [{ kind: "port", zero: true }, 0, undefined],
  [{ kind: "port", zero: true }, -1, "must be 0 (off) or a port between 1 and 65535, got -1"],
  [{ kind: "multipleOf", of: 1000 }, 0, "must be a multiple of 1000 above 0, got 0"],
  [{ kind: "multipleOf", of: 1000 }, 1000, undefined],
  [{ kind: "multipleOf", of: 1000 }, 1500, "must be a multiple of 1000 above 0, got 1500"],
  [{ kind: "multipleOf", of: 1 }, 1, undefined],
  [{ kind: "oneOf", values: ["a", "b"] }, "b", undefined],
  [{ kind: "oneOf", values: ["a", "b"] }, "c", 'must be one of a, b, got "c"'],
  [{ kind: "oneOf", values: ["a", "b"] }, "", 'must be one of a, b, got ""'],
  [{ kind: "oneOf", values: ["a", "b"], allowEmpty: true }, "", undefined],
  [{ kind: "eachOneOf", values: ["a", "b"] }, "a", undefined],
  [{ kind: "eachOneOf", values: ["a", "b"] }, "", 'must be one of a, b, got ""'],
  [{ kind: "ip" }, "::1", undefined],
  [{ kind: "ip" }, "one", 'must be an IP address, got "one"'],
  [{ kind: "addressRanges" }, "", undefined],
  [{ kind: "addressRanges" }, "10.85.0.0/16,fd00::/64", undefined],
  [
    { kind: "addressRanges" },
    "10.85.0.0/16,x",
    'must be an address range such as 10.85.0.0/16, or an IPv4 and an IPv6 one with a comma, got "10.85.0.0/16,x"',
  ],
  [{ kind: "cpuList" }, "", undefined],
  [{ kind: "cpuList" }, "0-3,8", undefined],
  [{ kind: "cpuList" }, "x", expect.stringMatching(/^must be a list of CPUs such as 0-3,8: ./)],
  [{ kind: "nonZeroQuantity" }, "1n", undefined],
  [{ kind: "nonZeroQuantity" }, "-1", undefined],
  [{ kind: "nonZeroQuantity" }, "0", 'must be a quantity other than 0 such as "10Mi", got "0"'],
  [
    { kind: "nonZeroQuantity" },
    "10MB",
    'must be a quantity other than 0 such as "10Mi", got "10MB"; did you mean 10M or 10Mi?',
  ],
])("by the rule %j the fault of %j is %j", (rule, value, fault) => {
  expect(ruleFault(rule, value)).toEqual(fault);
});
