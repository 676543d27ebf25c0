import { describe, expect, it } from "vitest";
import { memoryPolicy } from "../../../src/core/numaMemory/memoryPolicy.ts";
import { ownCpus } from "../../../src/sim/checkers/ownCpus.ts";
import { ownMemory } from "../../../src/sim/checkers/ownMemory.ts";
import type { SimChange } from "../../../src/sim/runtime/simRecords.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { containerOf } from "../../support/pods.ts";
import { call, change, verdicts, wanted } from "./observations.ts";

/** A Guaranteed pod of two containers: `main` with these amounts, `helper` with parts of a CPU. */
const podWith = (uid: string, cpu: string, memory = "40") => {
  const sized = (name: string, amounts: Readonly<Record<string, string>>) =>
    containerOf({ name, resources: { requests: amounts, limits: amounts } });
  return { uid, spec: { containers: [sized("main", { cpu, memory }), sized("helper", { cpu: "10m", memory: "1" })] } };
};

/** A container of a pod is created in this place and starts. */
function starts(uid: string, place: Pick<SimChange, "cpus" | "mems">, part = "main#0"): readonly UntimedObservation[] {
  const made = change("container created", part, uid);
  const created = made.kind === "change" ? { ...made, change: { ...made.change, ...place } } : made;
  return [created, change("container started", part, uid)];
}

const moves = (cpus: string, part = "main#0", podUid = "uid-1") => ({
  ...call("UpdateContainerResources", part, { podUid }),
  cpus,
});

describe("ownCpus", () => {
  const both = wanted(podWith("a", "2"), podWith("b", "1"));

  it.each<[string, readonly UntimedObservation[], readonly string[]]>([
    ["CPUs of different containers", [...starts("a", { cpus: "1-2" }), ...starts("b", { cpus: "3" })], []],
    [
      "a CPU of two containers",
      [...starts("a", { cpus: "1-2" }), ...starts("b", { cpus: "2" })],
      ["demo/plain/main#0 and demo/plain/main#0 both have CPUs of 2"],
    ],
    [
      "a CPU whose container has exited",
      [...starts("a", { cpus: "1-2" }), change("container exited", "main#0", "a"), ...starts("b", { cpus: "2" })],
      [],
    ],
    ["too few CPUs", starts("a", { cpus: "1" }), ['demo/plain/main#0 asks for 2 CPUs alone and has "1"']],
    ["no CPUs", starts("b", {}), ['demo/plain/main#0 asks for 1 CPUs alone and has ""']],
    [
      "other CPUs after a restart",
      [
        ...starts("b", { cpus: "1" }),
        change("container exited", "main#0", "b"),
        ...starts("b", { cpus: "2" }, "main#1"),
      ],
      ["demo/plain/main#1 had the CPUs 1 and has 2 now"],
    ],
    [
      "other CPUs of a pod that was gone meanwhile",
      [
        ...starts("b", { cpus: "1" }),
        change("container exited", "main#0", "b"),
        wanted(),
        both,
        ...starts("b", { cpus: "2" }),
      ],
      [],
    ],
    [
      "shared CPUs without those of containers alone",
      [...starts("a", { cpus: "1-2" }), moves("0,3", "helper#0", "a"), moves("1-2", "main#0", "a")],
      [],
    ],
    [
      "shared CPUs with one of a container alone",
      [...starts("a", { cpus: "1-2" }), moves("0,2-3", "helper#0", "b")],
      ["demo/plain/helper#0 is to run on 0,2-3 (UpdateContainerResources), of which demo/plain/main#0 has 1,2"],
    ],
    [
      "a new container on all CPUs beside a container alone",
      [...starts("a", { cpus: "1-2" }), call("CreateContainer", "helper#0", { podUid: "b" })],
      ["demo/plain/helper#0 is to run on all CPUs (CreateContainer), of which demo/plain/main#0 has 1,2"],
    ],
    [
      "a resize, which leaves the CPUs as they are",
      [...starts("a", { cpus: "1-2" }), call("UpdateContainerResources", "helper#0", { podUid: "b" })],
      [],
    ],
  ])("judges %s", (_, steps, findings) => {
    expect(verdicts(ownCpus(), [both, ...steps])).toEqual(findings);
  });
});

describe("ownMemory", () => {
  const nodes = [0, 1, 2].map((id) => ({ id, bytes: 100, hugepages: new Map<string, number>() }));
  const pods = wanted(podWith("a", "10m", "60"), podWith("b", "10m", "60"));

  it.each<[string, readonly UntimedObservation[], readonly string[]]>([
    ["different nodes", [...starts("a", { mems: "0" }), ...starts("b", { mems: "1" })], []],
    ["nodes of a group", [...starts("a", { mems: "0,1" }), ...starts("b", { mems: "0,1" })], []],
    ["no nodes", starts("a", {}), ["demo/plain/main#0 asks for 60 bytes and has no NUMA nodes"]],
    [
      "more than a node has",
      [...starts("a", { mems: "0" }), ...starts("b", { mems: "0" })],
      ["containers ask for 120 bytes of the NUMA nodes 0"],
    ],
    [
      "a node of a group used alone",
      [...starts("a", { mems: "0,1" }), ...starts("b", { mems: "1" })],
      ["demo/plain/main#0 has the NUMA nodes 1, demo/plain/main#0 has 0,1"],
    ],
    [
      "other nodes after a restart",
      [
        ...starts("a", { mems: "0" }),
        change("container exited", "main#0", "a"),
        ...starts("a", { mems: "2" }, "main#1"),
      ],
      ["demo/plain/main#1 had the NUMA nodes 0 and has 2 now"],
    ],
  ])("judges %s", (_, steps, findings) => {
    expect(verdicts(ownMemory(memoryPolicy(nodes, new Map())), [pods, ...steps])).toEqual(findings);
  });
});
