/** Trees that go: with a look at the mounts only where it is needed. */
import { defer, lastValueFrom, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError, toKubeletError } from "../../../../src/core/errors.ts";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import {
  type RemovalPorts,
  removeRarelyMounted,
  removeUnmounted,
} from "../../../../src/pipelines/volumes/removeUnmounted.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const entryAt = (path: string) => `30 20 0:40 / ${path} rw - tmpfs tmpfs rw`;

/** A place that cannot be removed while something is mounted there, or never. */
function world(mounted: readonly string[], isStuck = false) {
  const calls: string[] = [];
  const left = new Set(mounted);
  const isBusy = (path: string) => [...left].some((each) => each === path || each.startsWith(`${path}/`));
  const mounts = {
    list: (place?: string) => {
      calls.push(`list ${place}`);
      return of(parseMountInfo([...left].map(entryAt).join("\n")));
    },
    unmount: (path: string) => {
      calls.push(`unmount ${path}`);
      left.delete(path);
      return of(undefined);
    },
  } as unknown as Mounts;
  const files = {
    remove: (path: string) =>
      defer(() => {
        calls.push(`remove ${path}`);
        if (isStuck || isBusy(path)) throw kubeletError("Io", `cannot remove ${path}`);
        return of(undefined);
      }),
  } as unknown as RemovalPorts["files"];
  return { calls, ports: { files, mounts, telemetry: recordingTelemetry() } };
}

const done = (call: ReturnType<typeof removeUnmounted>): Promise<string> =>
  lastValueFrom(call, { defaultValue: "removed" }).catch((thrown: unknown) => toKubeletError(thrown).message);

describe("a tree that rarely has mounts", () => {
  it("goes without a look at the mount table", async () => {
    const { calls, ports } = world([]);
    expect(await done(removeRarelyMounted(ports, "/a"))).toBe("removed");
    expect(calls).toEqual(["remove /a"]);
  });

  it("is unmounted after its removal was refused, the last mount first, and goes then", async () => {
    const { calls, ports } = world(["/a/b", "/a/b/c"]);
    expect(await done(removeRarelyMounted(ports, "/a"))).toBe("removed");
    expect(calls).toEqual(["remove /a", "list /a", "unmount /a/b/c", "unmount /a/b", "remove /a"]);
  });

  it("stays with an error when it cannot be removed without mounts either", async () => {
    const { calls, ports } = world([], true);
    expect(await done(removeRarelyMounted(ports, "/a"))).toContain("cannot remove /a");
    expect(calls).toEqual(["remove /a", "list /a", "remove /a"]);
  });
});

it("a tree with mounts is unmounted first, but not what only begins with its name", async () => {
  const { calls, ports } = world(["/a/b", "/ab"]);
  expect(await done(removeUnmounted(ports, "/a"))).toBe("removed");
  expect(calls).toEqual(["list /a", "unmount /a/b", "remove /a"]);
});
