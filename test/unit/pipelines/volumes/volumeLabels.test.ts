import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import type { VolumeLabel } from "../../../../src/core/selinux/volumeLabel.ts";
import { createVolumeLabels } from "../../../../src/pipelines/volumes/volumeLabels.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const [A, B, C] = ["a", "b", "c"].map((uid) => podUid(uid)) as [
  ReturnType<typeof podUid>,
  ReturnType<typeof podUid>,
  ReturnType<typeof podUid>,
];

function create() {
  const telemetry = recordingTelemetry();
  const labels = createVolumeLabels(telemetry);
  const readmitted: string[] = [];
  labels.readmit$.subscribe(({ uid, name }) => readmitted.push(`${uid}/${name}`));
  const wish = (label: string, more: Partial<VolumeLabel> = {}): VolumeLabel => ({
    ...{ volume: "v", name: "pv1", label, isMountable: true, plugin: "kubernetes.io/fc", accessMode: "RWOP", ...more },
  });
  const admit = (uid: typeof A, label: string, more: Partial<VolumeLabel> = {}) => {
    const found = labels.admit({ uid, name: "data" }, wish(label, more));
    return found.ok ? found.value : found.error.message;
  };
  const sample = (what: string, hasPlugin = true) =>
    telemetry.samples.get(
      `volume_manager_selinux_${what}{${hasPlugin ? 'volume_plugin="kubernetes.io/fc",' : ""}access_mode="RWOP"}`,
    ) ?? 0;
  return { labels, admit, readmitted, sample };
}

const conflict = (has: string, wants: string) => `conflicting SELinux labels of volume pv1: "${has}" and "${wants}"`;

describe("labels of volumes", () => {
  it("are decided by the first pod, until its last pod has gone", () => {
    const { labels, admit, readmitted, sample } = create();
    expect([admit(A, "x"), admit(B, "y"), admit(C, "x")]).toEqual(["x", conflict("x", "y"), "x"]);
    labels.drop(A);
    expect([readmitted, admit(B, "y")]).toEqual([[], conflict("x", "y")]);
    labels.drop(C);
    expect([readmitted, admit(B, "y"), admit(A, "x")]).toEqual([["b/data"], "y", conflict("y", "x")]);
    expect([sample("volumes_admitted_total"), sample("volume_context_mismatch_errors_total")]).toEqual([2, 2]);
  });

  it("are let in again one after the other: the first one decides for the others", () => {
    const { labels, admit, readmitted } = create();
    admit(A, "x");
    expect([admit(B, "y"), admit(C, "z")]).toEqual([conflict("x", "y"), conflict("x", "z")]);
    labels.drop(A);
    expect([readmitted, admit(B, "y"), admit(C, "z")]).toEqual([["b/data", "c/data"], "y", conflict("y", "z")]);
  });

  it("stay those of a pod although it wants another one later", () => {
    const { admit } = create();
    expect([admit(A, "x"), admit(A, "y"), admit(B, "y")]).toEqual(["x", "x", conflict("x", "y")]);
  });

  it("of access modes that are not mounted with labels only count", () => {
    const { admit, sample } = create();
    const more = { isMountable: false };
    expect([admit(A, "x", more), admit(B, "y", more)]).toEqual(["", ""]);
    expect([sample("volume_context_mismatch_warnings_total"), sample("volume_context_mismatch_errors_total")]).toEqual([
      1, 0,
    ]);
  });

  it("of volumes on disk belong to their pods before any pod asks", () => {
    const { labels, admit, readmitted } = create();
    labels.adopt(A, "v", "x");
    expect([admit(B, "y"), admit(A, "z")]).toEqual([conflict("x", "y"), "x"]);
    labels.drop(A);
    expect(readmitted).toEqual(["b/data"]);
  });

  it("count a refusal once, however often it is asked for", () => {
    const { labels, admit, sample } = create();
    const fault = {
      kind: "pod",
      error: { code: "InvalidArgument", reason: "", message: "two", retryable: false },
    } as const;
    for (let times = 0; times < 5; times += 1) expect(admit(A, "", { fault })).toBe("two");
    expect(sample("pod_context_mismatch_errors_total", false)).toBe(1);
    labels.drop(A);
    admit(A, "", { fault });
    expect(sample("pod_context_mismatch_errors_total", false)).toBe(2);
  });

  it("forget a refused pod that has gone", () => {
    const { labels, admit, readmitted } = create();
    admit(A, "x");
    admit(B, "y");
    labels.drop(B);
    labels.drop(A);
    expect(readmitted).toEqual([]);
  });
});
