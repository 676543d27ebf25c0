import { describe, expect, it } from "vitest";
import { createLiveEventReader, MAX_EVENT_CHARS } from "../../../../src/core/live/liveEvents.ts";

const EVENTS = [
  'event: graph\ndata: {"kind":"graph"}\n\n',
  ": alive\n\n",
  'event: marbles\nid: 7\ndata: {"kind":"marbles","marbles":[],"dropped":0}\n\n',
].join("");

describe("the reader of live events", () => {
  it.each([1, 2, 7, EVENTS.length])("gives each message once when pieces have %i characters", (size) => {
    const reader = createLiveEventReader();
    const kinds: string[] = [];
    for (let from = 0; from < EVENTS.length; from += size) {
      kinds.push(...reader.take(EVENTS.slice(from, from + size)).map(({ kind }) => kind));
    }
    expect([kinds, reader.lastId]).toEqual([["graph", "marbles"], "7"]);
  });

  it.each(["data: no JSON\n\n", 'data: {"kind":"other"}\n\n', "data: 5\n\n", "\n\n"])("passes over %j", (text) => {
    expect(createLiveEventReader().take(text)).toEqual([]);
  });

  it("refuses an event that does not end", () => {
    const reader = createLiveEventReader();
    reader.take("x".repeat(MAX_EVENT_CHARS));
    expect(() => reader.take("x")).toThrow("an event has more than");
  });
});
