/** Usage of the pods of a whole node: concurrent clients share a single request to the runtime. */
import { describe, expect, it } from "vitest";
import { type KubeletError, kubeletError } from "../../src/core/errors.ts";
import type { Summary } from "../../src/core/stats/summary.ts";
import type { SimAction } from "../../src/sim/runtime/simCall.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const USAGE = { cpuMilli: 250, memoryBytes: 64 * 1024 ** 2, tasks: 2 };

/** A pod that runs, and the requests for figures of it that were made. */
function running(fate: (rpc: string) => SimAction = () => ({ kind: "proceed" })) {
  const asked: string[] = [];
  const { node, check } = podNode({
    pods: [podOf({ spec: { dnsPolicy: "Default", containers: [containerOf()] } })],
    programs: () => ({ usage: USAGE }),
    intercept: (rpc) => {
      if (!rpc.endsWith("Stats")) return { kind: "proceed" };
      asked.push(rpc);
      return fate(rpc);
    },
  });
  node.runFor(10_000);
  return { node, asked, check };
}

/** Returns the response to a request made now, after time has advanced. */
function ask(node: SimNode, what: "summary" | "cpuAndMemory" = "summary") {
  const answers: (Summary | KubeletError)[] = [];
  node.kubelet?.stats[what]().subscribe({
    next: (summary) => answers.push(summary),
    error: (error: KubeletError) => answers.push(error),
    complete: () => {},
  });
  return answers;
}

const POD = {
  podRef: { name: "plain" },
  cpu: { usageNanoCores: 250_000_000 },
  memory: { workingSetBytes: USAGE.memoryBytes },
  containers: [{ name: "main", memory: { workingSetBytes: USAGE.memoryBytes } }],
};

describe("stats of a node", () => {
  it("are measured once for all requests within a second", () => {
    const { node, asked, check } = running();
    const answers = [ask(node), ask(node, "cpuAndMemory")];
    node.runFor(900);
    answers.push(ask(node));
    node.runFor(50);
    for (const answer of answers) expect(answer).toMatchObject([{ pods: [POD] }]);
    expect(answers[0]).toMatchObject([{ pods: [{ process_stats: {}, "ephemeral-storage": {} }] }]);
    expect(asked).toEqual(["ListPodSandboxStats"]);
    node.runFor(1_000);
    ask(node);
    node.runFor(50);
    expect(asked).toHaveLength(2);
    check();
  });

  it.each(["Unimplemented", "Unknown"] as const)("come from containers when pods cannot be listed: %s", (code) => {
    const failed = { kind: "fail", error: kubeletError(code, "no") } as const;
    const { node, asked } = running((rpc) => (rpc === "ListPodSandboxStats" ? failed : { kind: "proceed" }));
    const answer = ask(node);
    node.runFor(50);
    expect(answer).toMatchObject([{ pods: [POD] }]);
    expect(asked).toEqual(["ListPodSandboxStats", "ListContainerStats"]);
  });

  it("fail after 10 s when the runtime does not answer, and pods continue meanwhile", () => {
    const { node, asked, check } = running(() => ({ kind: "hang" }));
    const answer = ask(node);
    const other = podOf({ uid: "uid-2", name: "other", spec: { dnsPolicy: "Default", containers: [containerOf()] } });
    node.putPod(other);
    node.runFor(9_900);
    expect(answer).toEqual([]);
    expect(node.pods().map(({ status }) => status?.phase)).toEqual(["Running", "Running"]);
    node.runFor(200);
    expect(answer).toMatchObject([{ code: "DeadlineExceeded" }]);
    expect(asked).toEqual(["ListPodSandboxStats"]);
    check();
  });
});
