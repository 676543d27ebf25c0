import { expect, it } from "vitest";
import { hostPathStep } from "../../../../src/core/volume/hostPathStep.ts";

const fails = (message: string) => `hostPath type check failed: /p is not a ${message}`;

it.each<[type: string, found: string | undefined, step: string]>([
  ["Directory", "Directory", "nothing"],
  ["Directory", "File", fails("directory")],
  ["Directory", undefined, fails("directory")],
  ["DirectoryOrCreate", "Directory", "nothing"],
  ["DirectoryOrCreate", undefined, "makeDirectory"],
  ["DirectoryOrCreate", "File", fails("directory")],
  ["File", undefined, fails("file")],
  ["FileOrCreate", undefined, "makeFile"],
  ["FileOrCreate", "Socket", fails("file")],
  ["Socket", "Socket", "nothing"],
  ["Socket", "File", fails("socket file")],
  ["CharDevice", undefined, fails("character device")],
  ["BlockDevice", "CharDevice", fails("block device")],
  ["Pipe", "File", "Pipe is an invalid volume type"],
])("a hostPath of type %s with an existing %s: %s", (type, found, expected) => {
  const step = hostPathStep("/p", type, found);
  expect(step.ok ? step.value : step.error.message).toBe(expected);
  const code = found === undefined ? "NotFound" : "InvalidArgument";
  expect(step.ok || [step.error.code, step.error.reason]).toEqual(step.ok || [code, "FailedMount"]);
});
