import { describe, expect, it } from "vitest";
import { hostPathStep } from "../../../src/core/container/volumes.ts";
import { podOf } from "../../support/pods.ts";

describe("hostPathStep", () => {
  const step = (type: string, found: string | undefined): string => {
    const result = hostPathStep(podOf(), { kind: "hostPath", name: "data", path: "/data", type }, found);
    return result.ok ? result.value : `${result.error.reason}: ${result.error.message.split(": ").slice(1).join(": ")}`;
  };

  it.each([
    ["", undefined, "nothing"],
    ["", "Socket", "nothing"],
    ["Directory", "Directory", "nothing"],
    ["DirectoryOrCreate", "Directory", "nothing"],
    ["DirectoryOrCreate", undefined, "makeDirectory"],
    ["FileOrCreate", "File", "nothing"],
    ["FileOrCreate", undefined, "makeFile"],
    ["Directory", undefined, 'FailedMount: volume "data": hostPath /data doesn\'t exist'],
    [
      "DirectoryOrCreate",
      "File",
      'FailedMount: volume "data": hostPath type check failed: /data is not a directory, it\'s a File',
    ],
    [
      "CharDevice",
      "Directory",
      'FailedMount: volume "data": hostPath type check failed: /data is not a character device, it\'s a Directory',
    ],
  ])("type %s where %s is found", (type, found, expected) => {
    expect(step(type, found)).toBe(expected);
  });
});
