import { describe, expect, it } from "vitest";
import { changedLines, NO_LINES, type PodLines } from "../../../src/cli/podLines.ts";
import { tableLines } from "../../../src/cli/tableLines.ts";
import type { Pod, PodStatus } from "../../../src/core/api.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { podRow } from "../../../src/core/pod/podRow.ts";
import { podOf } from "../../support/pods.ts";

const NOW = epochMs(0);
const pod = (status: PodStatus, leaves = false): Pod => {
  const made = podOf({ name: "web", namespace: "default" });
  return {
    ...made,
    status,
    metadata: { ...made.metadata, ...(leaves ? { deletionTimestamp: "1970-01-01T00:00:30Z" } : {}) },
  };
};
const waiting = (reason: string, ip?: string): PodStatus => ({
  phase: "Pending",
  ...(ip === undefined ? {} : { podIPs: [{ ip }] }),
  containerStatuses: [
    { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, state: { waiting: { reason } } },
  ],
});

/** The lines for one state after the other. */
const said = (...states: readonly (readonly Pod[])[]): readonly string[] => {
  let lines: PodLines = NO_LINES;
  return states.flatMap((pods) => {
    lines = changedLines(lines, pods, NOW);
    return lines.text.map((text) => text.replace(/^\S+ +/, "").replaceAll(/ {2,}/g, "  "));
  });
};

describe("changedLines", () => {
  it("says once that a pod starts", () => {
    const states = [
      pod({ phase: "Pending" }),
      pod(waiting("ContainerCreating")),
      pod(waiting("ContainerCreating", "10.0.0.1")),
    ];
    expect(said(...states.map((each) => [each]))).toEqual(["web  0/1  Pending  0 restarts  <none>"]);
  });

  it("says once that a pod is removed, however its containers end", () => {
    const states = [[pod({ phase: "Running" }, true)], [pod({ phase: "Failed", reason: "Error" }, true)], []];
    expect(said(...states)).toEqual(["web  0/1  Terminating  0 restarts  <none>", "web  removed"]);
  });

  it("keeps the columns for the longest usual status", () => {
    const columnOf = (status: PodStatus) => changedLines(NO_LINES, [pod(status)], NOW).text[0]?.indexOf("0 restarts");
    expect(columnOf(waiting("CreateContainerConfigError"))).toBe(columnOf({ phase: "Running" }));
  });
});

describe("tableLines", () => {
  const long = podOf({ name: "a-pod-with-quite-a-long-name-laptop", namespace: "default" });
  const status = { ...waiting("CrashLoopBackOff"), podIPs: [{ ip: "127.105.105.105" }] };
  const rows = [podRow({ ...long, status }, NOW)];

  it.each([100, 70, 60])("fits %i columns, with name, readiness, status, restarts and address", (columns) => {
    const [titles = "", row = ""] = tableLines(rows, columns);
    expect([titles.length, row.length].every((length) => length <= columns)).toBe(true);
    for (const cell of ["0/1", "CrashLoopBackOff", "127.105.105.105"]) expect(row).toContain(cell);
    expect(row.startsWith("a-pod-with")).toBe(true);
  });
});
