import { describe, expect, it } from "vitest";
import { spanContextIn, traceHeaders } from "../../../../src/core/tracing/spanContext.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

const read = (traceparent?: string, tracestate?: string) =>
  spanContextIn((name) => ({ traceparent, tracestate })[name as "traceparent" | "tracestate"]);

describe("spanContextIn", () => {
  it.each([
    ["a sampled parent", `00-${TRACE}-${SPAN}-01`, true],
    ["a parent that is not sampled", `00-${TRACE}-${SPAN}-00`, false],
    ["other flags beside the one of sampling", `00-${TRACE}-${SPAN}-03`, true],
    ["other flags without the one of sampling", `00-${TRACE}-${SPAN}-02`, false],
    ["a later version with more fields", `01-${TRACE}-${SPAN}-01-more`, true],
    ["a later version without more fields", `fe-${TRACE}-${SPAN}-01`, true],
  ])("reads %s", (_, header, isSampled) => {
    expect(read(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  it.each([
    ["no header", undefined],
    ["an empty header", ""],
    ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["the invalid version", `ff-${TRACE}-${SPAN}-01`],
    ["more fields in version 00", `00-${TRACE}-${SPAN}-01-more`],
    ["more text in a later version", `01-${TRACE}-${SPAN}-01more`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["text before it", ` 00-${TRACE}-${SPAN}-01`],
  ])("ignores %s", (_, header) => {
    expect(read(header)).toBeUndefined();
  });

  it("passes on a state of 512 characters, and no longer one", () => {
    const state = `a=${"b".repeat(510)}`;
    expect(read(`00-${TRACE}-${SPAN}-01`, state)?.traceState).toBe(state);
    expect(read(`00-${TRACE}-${SPAN}-01`, `${state}c`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  });
});

describe("traceHeaders", () => {
  it.each([
    [true, "01"],
    [false, "00"],
  ])("name the span, sampled: %s", (isSampled, flags) => {
    expect(traceHeaders({ traceId: TRACE, spanId: SPAN, isSampled })).toEqual({
      traceparent: `00-${TRACE}-${SPAN}-${flags}`,
    });
  });

  it("have the state of the trace", () => {
    const given = { traceId: TRACE, spanId: SPAN, isSampled: true, traceState: "a=1" };
    expect(traceHeaders(given)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "a=1" });
  });
});
