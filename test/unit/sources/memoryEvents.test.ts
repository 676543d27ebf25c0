/** Memory events of files that the test writes: inotify reports them as it reports the changes of the kernel. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { MemoryEvent } from "../../../src/ports/memoryEvents.ts";
import { createMemoryEvents } from "../../../src/sources/memoryEvents.ts";
import { systemClock } from "../../../src/sources/systemClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("memory events", () => {
  const folder = temporaryDirectory();

  it("report modified counters and stalls, until they are unsubscribed", async () => {
    const root = `${folder()}/sys/fs/cgroup`;
    mkdirSync(`${root}/kubepods`, { recursive: true });
    for (const file of ["cgroup.controllers", "memory.pressure", "kubepods/memory.events"]) {
      writeFileSync(`${root}/${file}`, "");
    }
    const { log } = recordingTelemetry();
    const found: MemoryEvent[] = [];
    const events = createMemoryEvents({ clock: systemClock, log, prefix: folder() });
    const subscription = events("/kubepods").subscribe({ next: (event) => found.push(event) });
    try {
      expect(readFileSync(`${root}/memory.pressure`, "utf8")).toBe("some 100000 2000000\0");
      writeFileSync(`${root}/kubepods/memory.events`, "max 1\n");
      await waitFor("an event", () => found.includes("limit"));
      writeFileSync(`${root}/memory.pressure`, "some 1\n");
      await waitFor("a stall", () => found.includes("stall"));
    } finally {
      subscription.unsubscribe();
    }
  });
});
