/** The file of the probe verdicts of a pod: what is restored, set aside, written and written again. */
import { concat, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { containerId, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import type { ProbeVerdict } from "../../../../src/core/pod/podActionsTypes.ts";
import { encodeProbeJournal } from "../../../../src/core/probe/probeJournal.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import {
  keepVerdicts,
  type ProbeJournal,
  restoreVerdicts,
  writeAhead,
} from "../../../../src/pipelines/probes/probeJournalFile.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const PATH = "/root/pods/p/probe-verdicts.json";
const READY: ProbeVerdict = { started: true, ready: true, live: true, containerId: containerId("c1") };
const verdicts = (verdict: ProbeVerdict): ReadonlyMap<string, ProbeVerdict> => new Map([["web", verdict]]);
const TEXT = encodeProbeJournal(verdicts(READY));

interface Disk {
  readonly read?: Observable<string>;
  readonly replace?: () => Observable<void>;
}

/** A journal whose calls of the disk are recorded as `time call`. */
function world(m: Marbles, { read, replace }: Disk) {
  const done = "|";
  const calls: string[] = [];
  const telemetry = recordingTelemetry();
  const called =
    (name: string, answer: () => Observable<unknown>) =>
    (...args: readonly unknown[]): Observable<unknown> => {
      calls.push([m.clock.monotonicMs(), name, ...args].join(" ").replaceAll(TEXT, "TEXT"));
      return answer();
    };
  const files = {
    readTail: called("read", () => read ?? m.cold(done)),
    writeFile: called("write", () => m.cold(done)),
    replaceFile: called("replace", replace ?? (() => m.cold(done))),
    remove: called("remove", () => m.cold(done)),
  };
  const { probing } = createPodMemories(monotonicMs(0));
  const journal = {
    uid: podUid("p"),
    probing,
    config: { directories: { rootDir: "/root" } },
    ports: { clock: m.clock, telemetry, files },
  } as unknown as ProbeJournal;
  const warnings = (): readonly string[] =>
    telemetry.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  return { journal, probing, calls, warnings };
}

describe("restoreVerdicts", () => {
  it(
    "restores the verdicts, which are not written again",
    marbles((m) => {
      const text = "    --(t|)";
      const expected = "--|";

      const { journal, probing, calls, warnings } = world(m, { read: m.cold(text, { t: TEXT }) });
      m.expectObservable(concat(restoreVerdicts(journal), writeAhead(journal, "web", READY))).toBe(expected);
      m.flush();
      expect([probing.verdicts.value, probing.file.written, warnings()]).toEqual([verdicts(READY), TEXT, []]);
      expect(calls.filter((call) => call.includes("replace"))).toEqual([]);
    }),
  );

  it(
    "sets a file aside that makes no sense",
    marbles((m) => {
      const text = "    (t|)";
      const expected = "|";

      const { journal, probing, calls, warnings } = world(m, { read: m.cold(text, { t: "nonsense" }) });
      m.expectObservable(restoreVerdicts(journal)).toBe(expected);
      m.flush();
      expect(calls.slice(1)).toEqual([`0 write ${PATH}.corrupt nonsense ${0o600}`, `0 remove ${PATH}`]);
      expect([probing.verdicts.value.size, warnings()]).toEqual([
        0,
        ["Probe verdicts cannot be used; containers are probed again"],
      ]);
    }),
  );

  it.each([
    ["has nothing to say about a file that is missing", "#", "|", "NotFound" as const, []],
    ["warns of a file that cannot be read", "#", "|", "Io" as const, ["Cannot read probe verdicts"]],
    ["gives up a disk that does not answer", "-", "5s |", "Io" as const, ["Cannot read probe verdicts"]],
  ])("%s", (_rule, answer, expected, code, warned) => {
    marbles((m) => {
      const { journal, warnings } = world(m, { read: m.cold<string>(answer, {}, kubeletError(code, "no")) });
      m.expectObservable(restoreVerdicts(journal)).toBe(expected);
      m.flush();
      expect(warnings()).toEqual(warned);
    })();
  });
});

describe("writeAhead", () => {
  it(
    "writes the verdict before it is reported, and waits a second at most",
    marbles((m) => {
      const silence = " -";
      const expected = "1s |";

      const { journal, probing, calls, warnings } = world(m, { replace: () => m.cold<void>(silence) });
      m.expectObservable(writeAhead(journal, "web", READY)).toBe(expected);
      m.flush();
      expect(calls).toEqual([`0 replace ${PATH} TEXT ${0o600} kubelet`]);
      expect([probing.file.ahead.size, warnings()]).toEqual([0, ["Cannot write probe verdicts"]]);
    }),
  );
});

describe("keepVerdicts", () => {
  it(
    "writes each change, and again ten seconds after a failure",
    marbles((m) => {
      const unsub = "  20s !";
      const failed = " #";
      const written = "|";
      const expected = "";

      let attempts = 0;
      const error = kubeletError("Io", "full");
      const replace = () => m.cold<void>((attempts += 1) === 1 ? failed : written, {}, error);
      const { journal, probing, calls, warnings } = world(m, { replace });
      m.expectObservable(keepVerdicts(journal), unsub).toBe(expected);
      m.at(500, () => probing.verdicts.set(verdicts(READY)));
      m.flush();
      expect(calls.map((call) => call.split(" ").slice(0, 2).join(" "))).toEqual(["500 replace", "10500 replace"]);
      expect(warnings()).toEqual(["Cannot write probe verdicts"]);
    }),
  );
});
