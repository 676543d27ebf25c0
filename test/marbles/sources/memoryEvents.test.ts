/** Memory events: how often they are passed on, and when their watches are renewed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { defer, NEVER, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { createMemoryEvents, type WatchFile } from "../../../src/sources/memoryEvents.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

describe("memory events", () => {
  const folder = temporaryDirectory();
  const root = (): string => `${folder()}/sys/fs/cgroup`;
  const makeV2 = (): void => {
    mkdirSync(root(), { recursive: true });
    writeFileSync(`${root()}/cgroup.controllers`, "memory\n");
  };
  const watching = (watchFile: WatchFile) => {
    const watched: string[] = [];
    const recording: WatchFile = (path, trigger) =>
      defer(() => {
        watched.push([path.slice(folder().length), trigger].join(" ").trim());
        return watchFile(path, trigger);
      });
    return { watched, recording };
  };

  it(
    "come at most every 200 ms, the last one late rather than never",
    marbles(({ clock, cold, expectObservable }) => {
      const limits = "  -xxxxx 500ms x";
      const stalls = "  -";
      const unsub = "   2s !";
      const expected = "-l 199ms l 304ms l";

      makeV2();
      const { log } = recordingTelemetry();
      const watchFile: WatchFile = (path) => cold(path.endsWith("events") ? limits : stalls);
      const events = createMemoryEvents({ clock, log, prefix: folder(), watchFile });
      expectObservable(events("/kubepods"), unsub).toBe(expected, { l: "limit" });
    }),
  );

  it(
    "come from the cgroup of all pods and from the machine, by watches that are renewed every minute",
    marbles(({ clock, cold, expectObservable, flush }) => {
      const stalls = "  --x";
      const limits = "  -x|";
      const unsub = "   61s !";
      const expected = "-l 199ms s 59799ms l 199ms s";

      makeV2();
      const { log } = recordingTelemetry();
      const { watched, recording } = watching((path) => cold(path.endsWith("pressure") ? stalls : limits));
      const events = createMemoryEvents({ clock, log, prefix: folder(), watchFile: recording });
      expectObservable(events("/kubepods"), unsub).toBe(expected, { l: "limit", s: "stall" });
      flush();
      const both = ["/sys/fs/cgroup/kubepods/memory.events", "/sys/fs/cgroup/memory.pressure some 100000 2000000"];
      expect(watched).toEqual([...both, ...both]);
    }),
  );

  it(
    "come from the machine alone with cgroup v1; a missing file is named once",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   150s !";
      const expected = "";

      const telemetry = recordingTelemetry();
      const { watched, recording } = watching(() => throwError(() => kubeletError("NotFound", "no such file")));
      const events = createMemoryEvents({ clock, log: telemetry.log, prefix: folder(), watchFile: recording });
      expectObservable(events("/kubepods"), unsub).toBe(expected);
      flush();
      const stall = "/sys/fs/cgroup/unified/memory.pressure some 100000 2000000";
      // After 0, 1, 3, 7, 15, 31 and 63 s, then each minute.
      expect(watched).toEqual(Array.from({ length: 8 }, () => stall));
      expect(telemetry.lines.map(({ message }) => message)).toEqual([
        "Cannot follow memory events; measuring often enough replaces them",
      ]);
    }),
  );

  it(
    "come from a cgroup that is made a moment after the kubelet has started, without a warning",
    marbles(({ clock, cold, expectObservable, flush }) => {
      const renewed = " 500ms x";
      const unsub = "   64s !";
      const expected = "3500ms l 59999ms l";

      makeV2();
      const telemetry = recordingTelemetry();
      const watchFile: WatchFile = (path) => {
        if (path.endsWith("pressure")) return NEVER;
        if (clock.monotonicMs() >= 2_500) return cold(renewed);
        return throwError(() => kubeletError("NotFound", "no such file"));
      };
      const events = createMemoryEvents({ clock, log: telemetry.log, prefix: folder(), watchFile });
      expectObservable(events("/kubepods"), unsub).toBe(expected, { l: "limit" });
      flush();
      expect(telemetry.lines).toEqual([]);
    }),
  );
});
