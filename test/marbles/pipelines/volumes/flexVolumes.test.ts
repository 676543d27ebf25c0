/** Secrets and attachment of flexVolumes. The life of a volume is in test/e2e/flexVolumes.test.ts. */
import { defer, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { flexLayout } from "../../../../src/core/flex/flexLayout.ts";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { createHeldVolumes } from "../../../../src/pipelines/volumes/heldVolumes.ts";
import {
  type FlexContext,
  flexWait,
  isFlex,
  isFlexLabelled,
  setUpFlex,
} from "../../../../src/pipelines/volumes/flexVolumes.ts";
import type { VolumePorts } from "../../../../src/pipelines/volumes/volumeEffects.ts";
import type { Files } from "../../../../src/ports/files.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { podOf } from "../../../support/pods.ts";

const capabilities = {
  attach: false,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};

/** Sets a volume with a secret up; returns the calls, and the error if there is one. */
function setUp(api: FlexContext["api"]) {
  const pod = podOf({ uid: "u", namespace: "ns" });
  const layout = flexLayout(pod, "v", { driver: "d", secretRef: { name: "s" } }, undefined, {
    directories: { rootDir: "/k" },
  });
  if (!isFlex(layout)) throw new Error("is no flexVolume");
  const seen: string[] = [];
  const context: FlexContext = {
    port: {
      changes$: NEVER,
      list: () => of([]),
      run: (_, [command, , options = "{}"]) => {
        const { "kubernetes.io/secret/key": key } = JSON.parse(options) as Record<string, string>;
        seen.push(`${command} ${key}`);
        return of({ printed: '{"status":"Success"}' });
      },
    },
    drivers: createCell(new Map([["d", { name: "d", capabilities }]])),
    node: createCell(undefined),
    ...{ api, nodeName: "n1", isAttachedByController: true, heldVolumes: createHeldVolumes(createCell(undefined)) },
  };
  const ports = {
    files: { makeDirectory: () => of(undefined) } as unknown as Files,
    mounts: { list: () => of([]) } as unknown as Mounts,
  } as VolumePorts;
  setUpFlex(ports, context, { pod, layout }).subscribe({
    error: (thrown) => seen.push((thrown as { message: string }).message),
  });
  return seen;
}

describe("the secret of a flexVolume", () => {
  const found = (type: string) =>
    ({ get: () => of({ type, data: { key: "dmFsdWU=" } }) }) as unknown as FlexContext["api"];
  it.each<[string, FlexContext["api"], readonly string[]]>([
    ["is given to its driver in base64", found("d"), ["mount dmFsdWU="]],
    ["has the type of its driver", found("Opaque"), ["couldn't get secret ns/s err: cannot get secret of type d"]],
    ["needs an API server", undefined, ["cannot get kube client"]],
    [
      "must exist",
      { get: () => throwError(() => kubeletError("NotFound", "gone")) },
      ["couldn't get secret ns/s err: gone"],
    ],
  ])("%s", (_rule, api, expected) => expect(setUp(api)).toEqual(expected));
});

describe("the files of a flexVolume", () => {
  it.each([
    ["are labelled by the runtime", true, true],
    ["are left alone for a driver that says so", false, false],
  ])("%s", (_rule, selinuxRelabel, expected) => {
    const drivers = createCell(new Map([["d", { name: "d", capabilities: { ...capabilities, selinuxRelabel } }]]));
    const layout = flexLayout(podOf({}), "v", { driver: "d" }, undefined, { directories: { rootDir: "/k" } });
    expect(isFlexLabelled(layout.flex, { drivers })).toBe(expected);
  });
});

/** Sets a volume up whose driver attaches it to the node; `mounted` is mounted before. Returns the steps and the error. */
function attachAndMount(failing: string | undefined, mounted: readonly string[] = []) {
  const pod = podOf({ uid: "u", namespace: "ns", spec: { securityContext: { fsGroup: 7 } } });
  const layout = flexLayout(pod, "v", { driver: "d" }, undefined, { directories: { rootDir: "/k" } });
  if (!isFlex(layout)) throw new Error("is no flexVolume");
  const steps: string[] = [];
  const step = (text: string, value: unknown) =>
    defer(() => {
      steps.push(text);
      return text === failing ? throwError(() => kubeletError("Io", `no ${text}`)) : of(value);
    });
  const context: FlexContext = {
    port: {
      changes$: NEVER,
      list: () => of([]),
      run: (_, [command = ""]) => step(command, { printed: '{"status":"Success","device":"/dev/x"}' }),
    } as FlexContext["port"],
    drivers: createCell(new Map([["d", { name: "d", capabilities: { ...capabilities, attach: true } }]])),
    node: createCell(undefined),
    ...{ api: undefined, nodeName: "n1", isAttachedByController: false },
    heldVolumes: createHeldVolumes(createCell(undefined)),
  };
  const table = mounted.map((place) => `30 20 0:40 / ${place} rw - ext4 /dev/x rw`).join("\n");
  const ports = {
    files: { makeDirectory: (path: string) => step(`make ${path}`, undefined) } as unknown as Files,
    mounts: { list: () => of(parseMountInfo(table)) } as unknown as Mounts,
    volumeFiles: { setOwnership: () => step("group", "set") } as unknown as VolumePorts["volumeFiles"],
  } as VolumePorts;
  flexWait({ pod, layout }, context);
  setUpFlex(ports, context, { pod, layout }).subscribe({
    error: (thrown) => steps.push((thrown as { message: string }).message),
  });
  return { steps, mountPoint: layout.flex.mountPoint, path: layout.path };
}

describe("a flexVolume that its driver attaches", () => {
  it("has its directory before it is attached, so that it is found and detached if nothing more comes of it", () => {
    const { steps, mountPoint } = attachAndMount("waitforattach");
    expect(steps.slice(0, 3)).toEqual([`make ${mountPoint}`, "attach", "waitforattach"]);
  });

  it("gets its group with the next attempt when that failed after the mount", () => {
    const first = attachAndMount("group");
    expect(first.steps.slice(-3, -1)).toEqual(["mount", "group"]);
    expect(attachAndMount(undefined, [first.mountPoint, first.path]).steps).toEqual(["group"]);
  });
});
