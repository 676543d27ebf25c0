/** The crash-loop curve of a whole node as diagrams, and how annotations steer it. */
import { describe, expect, it } from "vitest";
import { crashLoopPolicy } from "../../src/core/backoff.ts";
import { imageNotFound, simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { exitsWith } from "../../src/sim/runtime/simProgram.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { podNode } from "../support/podNode.ts";
import { podOf } from "../support/pods.ts";

/** The time of a diagram character, and of each container run. */
const FRAME_MS = 2_000;
const INITIAL = "rxlet.dev/crash-loop-initial-delay";
const MAX = "rxlet.dev/crash-loop-max-delay";
const RETRY = "rxlet.dev/retry-at";

const crashing = (annotations: Readonly<Record<string, string>> = {}) => podOf({ annotations });

function nodeOf(annotations: Readonly<Record<string, string>> = {}, more: Partial<SimNodeOptions> = {}) {
  return podNode({ pods: [crashing(annotations)], programs: () => exitsWith(1, FRAME_MS), ...more });
}

/** `s` where the container was started, `-` where it was not, over as many frames as `like` has. */
function starts({ node, calls }: ReturnType<typeof nodeOf>, like: string): string {
  node.runFor(like.length * FRAME_MS - node.clock.monotonicMs());
  const frames = new Set(
    calls.filter(({ what }) => what.startsWith("StartContainer")).map(({ atMs }) => Math.floor(atMs / FRAME_MS)),
  );
  return [...like].map((_, frame) => (frames.has(frame) ? "s" : "-")).join("");
}

const waitingOf = (node: SimNode) => node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting;

describe("the crash-loop curve (2 s a character)", () => {
  const curves: readonly (readonly [string, Readonly<Record<string, string>>, Partial<SimNodeOptions>, string])[] = [
    ["at once, 10 s, 20 s, 40 s after the exit", {}, {}, "ss-----s----------s--------------------s--"],
    [
      "the node's maximum",
      {},
      { config: { containerBackoff: crashLoopPolicy(12_000) } },
      "ss-----s------s------s------s------s------",
    ],
    [
      "ReduceDefaultCrashLoopBackOffDecay: 1 s doubling",
      {},
      { config: { containerBackoff: crashLoopPolicy(undefined, true) } },
      "sss-s--s----s--------s----------------s----",
    ],
    ["the pod's own first delay and maximum", { [INITIAL]: "4s", [MAX]: "8s" }, {}, "ss--s----s----s----s----s--"],
    ["the pod's maximum below the node's first delay", { [MAX]: "4s" }, {}, "ss--s--s--s--s--s--s--"],
    [
      "a pod cannot ask for more than its node allows",
      { [MAX]: "5m" },
      { config: { containerBackoff: crashLoopPolicy(4_000) } },
      "ss--s--s--s--s--s--s--",
    ],
  ];
  it.each(curves)("%s", (_title, annotations, more, diagram) => {
    const made = nodeOf(annotations, more);
    expect(starts(made, diagram)).toBe(diagram);
    made.check();
  });

  it("restarts when rxlet.dev/retry-at changes, also during a backoff", () => {
    const made = nodeOf();
    made.node.at(20_000, () => made.node.putPod(crashing({ [RETRY]: "2026-01-01T00:00:20Z" })));
    // asked ------------------v
    const diagram = "ss-----s--s-----s----------s-----------------";
    expect(starts(made, diagram)).toBe(diagram);
    expect(made.events.filter(({ what }) => what.startsWith("RetryNow"))).toHaveLength(1);
    made.check();
  });

  it("restarts on each operator request, and only for an existing pod", () => {
    const made = nodeOf();
    const [{ namespace, name }] = [crashing().metadata];
    const asked: boolean[] = [];
    made.node.at(20_000, () => asked.push(made.node.retry(namespace, name), made.node.retry(namespace, "other")));
    made.node.at(26_000, () => asked.push(made.node.retry(namespace, name)));
    // asked ------------------v--v
    const diagram = "ss-----s--s--s-----s----------s----";
    expect(starts(made, diagram)).toBe(diagram);
    expect(asked).toEqual([true, false, true]);
    expect(made.events.filter(({ what }) => what.startsWith("RetryNow"))).toHaveLength(2);
    made.check();
  });

  it("heeds a request once: neither resyncs nor a restart of the kubelet repeat it", () => {
    const made = nodeOf({ [RETRY]: "found at the start" }, { config: { syncPeriodMs: 3_000 } });
    const diagram = "ss-----s----------s-----";
    expect(starts(made, diagram)).toBe(diagram);
    made.node.crashKubelet();
    made.node.restartKubelet();
    made.node.runFor(30_000);
    expect(made.events.filter(({ what }) => what.startsWith("RetryNow"))).toEqual([]);
    made.check();
  });
});

describe("a container in its crash loop", () => {
  it("says when its next try comes, after upstream's own words, and keeps to it", () => {
    const made = nodeOf();
    made.node.runFor(20_000);
    const [, upstream, nextTry = ""] = /^(.*) next-try=(\S+)$/.exec(waitingOf(made.node)?.message ?? "") ?? [];
    expect(upstream).toBe("back-off 20s restarting failed container=main pod=plain_demo(uid-1)");
    const startedAtMs = (): number => made.calls.findLast(({ what }) => what.startsWith("StartContainer"))?.atMs ?? 0;
    const before = startedAtMs();
    expect(made.node.runUntil(() => startedAtMs() !== before, 60_000)).toBe(true);
    const lateMs = made.node.clock.wallTime() - Date.parse(nextTry);
    expect(Math.abs(lateMs)).toBeLessThanOrEqual(1_000);
  });

  it("warns of annotations it cannot take, once, and uses what the node has", () => {
    const made = nodeOf({ [INITIAL]: "soon", [MAX]: "1h" }, { config: { syncPeriodMs: 5_000 } });
    const diagram = "ss-----s----------s----";
    expect(starts(made, diagram)).toBe(diagram);
    const reported = made.node.trace.lines.filter((line) => line.includes("InvalidAnnotation"));
    expect(reported.map((line) => line.slice(line.indexOf("metadata")))).toEqual([
      `metadata.annotations[${MAX}]: "1h" is above the longest delay of this node; 5m0s is used`,
      `metadata.annotations[${INITIAL}]: "soon" is not a duration such as 5s or 1m30s; 10s is used`,
    ]);
  });
});

describe("a pull that failed", () => {
  it("is repeated at once when rxlet.dev/retry-at changes", () => {
    let isThere = false;
    const image = "registry.example/late:1";
    const made = podNode({
      images: [],
      pods: [podOf({ spec: { containers: [{ ...podOf().spec.containers[0]!, image }] } })],
      registry: (reference) =>
        isThere ? { ms: 100, image: simImage(reference) } : { ms: 100, error: imageNotFound(reference) },
    });
    const pulls = (): number => made.count("PullImage");
    made.node.runFor(45_000);
    isThere = true;
    const before = pulls();
    const annotations = { [RETRY]: "now" };
    made.node.putPod(podOf({ annotations, spec: { containers: [{ ...podOf().spec.containers[0]!, image }] } }));
    made.node.runFor(1_000);
    expect([pulls() - before, made.phase("uid-1")]).toEqual([1, "Running"]);
    made.check();
  });
});
