/** Reports of the OOM killer of several kernels, and their events. */
import { describe, expect, it } from "vitest";
import {
  isSystemOom,
  nextOomReport,
  noOomReport,
  type OomInstance,
  systemOomEvent,
} from "../../../../src/core/oom/oomInstance.ts";
import { oomMessages } from "../../../../src/sim/host/oomKiller.ts";

/** The kills reported by messages with these sequence numbers, by default without a gap. */
function kills(texts: readonly string[], sequenceOf = (index: number): number => 100 + index): OomInstance[] {
  const found: OomInstance[] = [];
  let report = noOomReport;
  for (const [index, text] of texts.entries()) {
    report = nextOomReport(report, { level: 6, sequence: sequenceOf(index), uptimeUs: 0, text });
    if (report.found !== undefined) found.push(report.found);
  }
  return found;
}

const first = (name: string): string => `${name} invoked oom-killer: gfp_mask=0x201da, order=0, oom_score_adj=0`;
const killed = (limitedCgroup: string, killedCgroup: string, processName: string, pid: number): OomInstance => ({
  ...{ limitedCgroup, killedCgroup, processName, pid },
});
const POD = "/kubepods/burstable/podfbdfe8e3-1c87-4ff2-907c-b2ec8e25d012";
const SCOPE = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope";

describe("reports of", () => {
  it.each<[kernel: string, texts: readonly string[], kill: OomInstance]>([
    [
      "Linux 3.13, a cgroup at its limit",
      [
        first("memorymonster"),
        "memorymonster cpuset=/ mems_allowed=0",
        "CPU: 5 PID: 13536 Comm: memorymonster Tainted: P           OX 3.13.0-43-generic #72-Ubuntu",
        "Task in /mem2 killed as a result of limit of /mem3",
        "memory: usage 980kB, limit 980kB, failcnt 4152239",
        "[13536] 275858 13536  8389663      343   16267  8324326             0 memorymonster",
        "Memory cgroup out of memory: Kill process 13536 (memorymonster) score 996 or sacrifice child",
        "Killed process 13536 (memorymonster) total-vm:33558652kB, anon-rss:920kB, file-rss:452kB",
      ],
      killed("/mem3", "/mem2", "memorymonster", 13_536),
    ],
    [
      "Linux 3.10, the machine",
      [
        first("java"),
        "Out of memory: Kill process 1532 (bad (program)) score 956 or sacrifice child",
        "Killed process 1532 (bad (program)), UID 0, total-vm:1641388kB, anon-rss:1595164kB, file-rss:0kB",
      ],
      killed("/", "/", "bad (program)", 1_532),
    ],
    [
      "Linux 4.19, a task at the limit of the root",
      [first("a"), "Task in /x killed as a result of limit of /", "Killed process 7 (a) total-vm:4kB, anon-rss:4kB"],
      killed("/", "/x", "a", 7),
    ],
    [
      "Linux 5.4, a pod at its limit",
      [
        first("manager"),
        `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=ef80,mems_allowed=0,oom_memcg=${POD},task_memcg=${POD}/ef80,task=manager,pid=966,uid=0`,
        "Memory cgroup out of memory: Killed process 966 (manager) total-vm:1kB, anon-rss:1kB, UID:0 oom_score_adj:999",
      ],
      killed(POD, `${POD}/ef80`, "manager", 966),
    ],
    [
      "Linux 6.1, a cgroup that is killed as a group",
      [
        first("python3"),
        `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-1.scope,mems_allowed=0-1,oom_memcg=${SCOPE},task_memcg=${SCOPE},task=python3,pid=1,uid=1000`,
        "Memory cgroup out of memory: Killed process 1 (python3) total-vm:4kB, anon-rss:4kB",
        `Tasks in ${SCOPE} are going to be killed due to memory.oom.group set`,
        "Memory cgroup out of memory: Killed process 1 (python3) total-vm:4kB, anon-rss:4kB",
        "Memory cgroup out of memory: Killed process 2 (python3) total-vm:4kB, anon-rss:4kB",
      ],
      killed(SCOPE, SCOPE, "python3", 1),
    ],
    [
      "Linux 6.1, the machine",
      [
        first("stress"),
        `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=${SCOPE},task=stress,pid=4021,uid=0`,
        "Out of memory: Killed process 4021 (stress) total-vm:8kB, anon-rss:8kB, UID:0 pgtables:12kB oom_score_adj:1000",
      ],
      killed("/", "/", "stress", 4_021),
    ],
  ])("%s", (_kernel, texts, kill) => {
    expect(kills(texts)).toEqual([kill]);
  });

  it("the simulated kernel", () => {
    const victim = { name: "hog", pid: 9, cgroup: "/kubepods/a", memoryBytes: 1, oomScoreAdj: 0 };
    const simulated = (constraint: "memcg" | "none") =>
      kills(oomMessages({ victim: victim as Parameters<typeof oomMessages>[0]["victim"], constraint }));
    expect(simulated("memcg")).toEqual([killed("/kubepods/a", "/kubepods/a", "hog", 9)]);
    expect(simulated("none")).toEqual([killed("/", "/", "hog", 9)]);
  });
});

describe("a report", () => {
  const last = "Out of memory: Killed process 5 (b) total-vm:4kB";

  it("needs its first message", () => {
    expect(kills([last, "anything", last])).toEqual([]);
  });

  it("ends with its last message, so the next message about a killed process belongs to no report", () => {
    expect(kills([first("a"), last, last])).toEqual([killed("/", "/", "b", 5)]);
  });

  it("is dropped when messages were lost, because the kill may be another one", () => {
    const texts = [first("a"), "memory: usage 980kB", last];
    expect(kills(texts, (index) => index * (index + 1))).toEqual([]);
    expect(kills([...texts, first("a"), last], (index) => (index < 2 ? index : index + 9))).toHaveLength(1);
  });

  it("is replaced by the next one", () => {
    const limited = "Task in /x killed as a result of limit of /x";
    expect(kills([first("a"), limited, first("c"), last])).toEqual([killed("/", "/", "b", 5)]);
  });

  it.each([
    ["no process id", "Killed process x (b) total"],
    ["no name", "Killed process 5 () total"],
    ["an endless process id", `Killed process ${"1".repeat(8_000)} (b)`],
    [
      "a summary without a process id",
      "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/a,task=b,pid=,uid=0",
    ],
    ["a summary with one field", "oom-kill:constraint=,uid="],
    ["a summary that starts with its last field", ",uid=0"],
  ])("stays open at a message with %s", (_title, text) => {
    expect(kills([first("a"), text])).toEqual([]);
    expect(kills([first("a"), text, last])).toHaveLength(1);
  });

  it("reads process names that look like fields", () => {
    const summary = (name: string): string =>
      `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=${name},pid=5,uid=0`;
    expect(kills([first("a"), summary("x,pid=1,uid=2")])).toEqual([killed("/a", "/a/b", "x,pid=1,uid=2", 5)]);
    expect(kills([first("a"), summary(",oom_memcg=/,x")])).toEqual([killed("/a", "/a/b", ",oom_memcg=/,x", 5)]);
  });
});

describe("the event of a kill", () => {
  it("is a warning about the Node when the machine was out of memory", () => {
    expect(systemOomEvent("n1", killed("/", "/", "stress", 4_021))).toEqual({
      type: "Warning",
      reason: "SystemOOM",
      message: "System OOM encountered, victim process: stress, pid: 4021",
      object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
    });
  });

  it("belongs to kills without a cgroup at its limit", () => {
    expect(isSystemOom(killed("/kubepods", "/kubepods/a", "stress", 4_021))).toBe(false);
    expect(isSystemOom(killed("/", "/kubepods/a", "stress", 4_021))).toBe(true);
  });
});
