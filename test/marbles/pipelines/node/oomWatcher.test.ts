/** Events about kills by the OOM killer. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { KernelMessage } from "../../../../src/core/oom/kernelRecord.ts";
import { oomWatcher } from "../../../../src/pipelines/node/oomWatcher.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const texts = {
  a: "stress invoked oom-killer: gfp_mask=0x0, order=0, oom_score_adj=0",
  g: "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/a,task=stress,pid=7,uid=0",
  l: "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task_memcg=/a,task=stress,pid=7,uid=0",
  k: "Out of memory: Killed process 7 (stress) total-vm:4kB",
  m: "Memory cgroup out of memory: Killed process 7 (stress) total-vm:4kB",
};
const KILL = expect.objectContaining({
  type: "Warning",
  reason: "SystemOOM",
  message: "System OOM encountered, victim process: stress, pid: 7",
});

/** The letters of a diagram are messages in sequence; `gap` numbers are lost before message `gapAt`. */
function messagesOf(diagram: string, gapAt = Number.POSITIVE_INFINITY) {
  const letters = diagram.replaceAll(/[^a-z]/g, "");
  const named: Record<string, KernelMessage> = {};
  let spelled = "";
  let index = 0;
  for (const sign of diagram) {
    if (!letters.includes(sign)) {
      spelled += sign;
      continue;
    }
    const name = String.fromCharCode("A".charCodeAt(0) + index);
    const sequence = index < gapAt ? index : index + 5;
    named[name] = { level: 4, sequence, uptimeUs: 0, text: texts[sign as keyof typeof texts] };
    spelled += name;
    index += 1;
  }
  return [spelled, named] as const;
}

describe("oomWatcher", () => {
  it(
    "emits an event at the end of each report of a machine out of memory, and none for a cgroup at its limit",
    marbles(({ hot, expectObservable }) => {
      const messages = "-a-g-k--k-a-l-m--a-k";
      const unsub = "   21ms !";
      const expected = "-----e-------------e";

      const kernelLog = hot(...messagesOf(messages));
      const events$ = oomWatcher({ kernelLog, telemetry: recordingTelemetry() }, { nodeName: "n1" });
      expectObservable(events$, unsub).toBe(expected, { e: KILL });
    }),
  );

  it(
    "continues after lost messages, without the report they belonged to",
    marbles(({ hot, expectObservable }) => {
      const messages = "-a-k-a-k";
      const unsub = "   10ms !";
      const expected = "-------e";

      const kernelLog = hot(...messagesOf(messages, 1));
      const events$ = oomWatcher({ kernelLog, telemetry: recordingTelemetry() }, { nodeName: "n1" });
      expectObservable(events$, unsub).toBe(expected, { e: KILL });
    }),
  );

  it(
    "logs once that the kernel log cannot be read, and completes",
    marbles(({ cold, expectObservable, flush }) => {
      const kernelLog = "--#";
      const expected = " --|";

      const telemetry = recordingTelemetry();
      const kernelLog$ = cold<KernelMessage>(kernelLog, {}, kubeletError("NotFound", "cannot open /dev/kmsg: ENOENT"));
      expectObservable(oomWatcher({ kernelLog: kernelLog$, telemetry }, { nodeName: "n1" })).toBe(expected);
      flush();
      expect(JSON.stringify(telemetry.lines).match(/cannot open \/dev\/kmsg/g)).toHaveLength(1);
    }),
  );

  it(
    "completes at once on a machine without a kernel log",
    marbles(({ expectObservable }) => {
      const expected = "|";

      const ports = { kernelLog: undefined, telemetry: recordingTelemetry() };
      expectObservable(oomWatcher(ports, { nodeName: "n1" })).toBe(expected);
    }),
  );
});
