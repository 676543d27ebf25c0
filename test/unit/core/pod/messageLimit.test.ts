import { describe, expect, it } from "vitest";
import type { ApiContainerStatus } from "../../../../src/core/api.ts";
import { messageBytesPerContainer, withLimitedMessages } from "../../../../src/core/pod/messageLimit.ts";
import { container, pod } from "../samples.ts";

describe("termination messages of a pod", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => container(`c${index}`));
  it.each([
    ["a single container has all of it", { containers: many(1) }, 12_288],
    ["containers of all kinds share it", { containers: many(2), initContainers: many(1) }, 4_096],
    ["ephemeral containers too", { containers: many(4), ephemeralContainers: many(1) }, 2_457],
  ])("%s", (_title, spec, bytes) => {
    expect(messageBytesPerContainer(pod(spec).spec)).toBe(bytes);
  });

  const ended = (message: string) => ({ terminated: { exitCode: 1, message } });
  const status = (more: Partial<ApiContainerStatus>): ApiContainerStatus => ({
    name: "web",
    image: "",
    imageID: "",
    ready: false,
    restartCount: 0,
    ...more,
  });
  it.each([
    ["the beginning of a long one is kept", { state: ended("abcdef") }, { state: ended("abcd") }],
    ["that of the end before too", { lastState: ended("abcdef") }, { lastState: ended("abcd") }],
    ["a character is not cut in two", { state: ended("abcé") }, { state: ended("abc") }],
    ["a short one is as it was", { state: ended("é1") }, { state: ended("é1") }],
    ["other states have none", { state: { running: {} } }, { state: { running: {} } }],
  ])("%s", (_title, reported, kept) => {
    expect(withLimitedMessages(status(reported), 4)).toEqual(status(kept));
  });
});
