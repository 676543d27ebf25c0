import { describe, expect, it } from "vitest";
import { runtimePods } from "../../../../src/core/dev/runtimePods.ts";

const sandbox = (name: string, source = "file") => ({ id: `id-${name}`, namespace: "default", name, source });
const NONE = { kind: "none" } as const;
const ENDED = { kind: "ended" } as const;

describe("a runtime of the machine", () => {
  it("is usable without pods", () => {
    expect(runtimePods("Docker", [], NONE)).toEqual({ kind: "usable", leftover: [] });
    expect(runtimePods("Docker", [], ENDED)).toEqual({ kind: "usable", leftover: [] });
  });

  it("is usable with the pods of an rxlet dev that was killed, which are removed", () => {
    expect(runtimePods("Docker", [sandbox("a"), sandbox("b")], ENDED)).toEqual({
      kind: "usable",
      leftover: ["id-a", "id-b"],
    });
  });

  it("is refused with the pods of another kubelet", () => {
    const names = ["a", "b", "c", "d", "e"];
    const refused = (shown: string) => ({
      kind: "refused",
      why: `Docker has pods of another kubelet (${shown}), which rxlet dev would end`,
    });
    expect(runtimePods("Docker", [sandbox("a")], NONE)).toEqual(refused("default/a"));
    expect(
      runtimePods(
        "Docker",
        names.map((name) => sandbox(name)),
        NONE,
      ),
    ).toEqual(refused("default/a, default/b, default/c and 2 more"));
    // A cluster joined after the other was killed.
    expect(runtimePods("Docker", [sandbox("a"), sandbox("b", "api")], ENDED)).toEqual(refused("default/a, default/b"));
  });

  it("is refused while another rxlet dev uses it", () => {
    expect(runtimePods("containerd", [], { kind: "running", pid: 7 })).toEqual({
      kind: "refused",
      why: "process 7, another rxlet dev, uses containerd, and each would end the other's pods",
    });
  });
});
